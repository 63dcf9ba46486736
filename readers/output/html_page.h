// Pictures as HTML pages: SVG within a page, for outputs whose name ends in
// .html.
#ifndef PYMEMRUN_READERS_OUTPUT_HTML_PAGE_H_
#define PYMEMRUN_READERS_OUTPUT_HTML_PAGE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// Whether a file of this name is to be an HTML page.
bool IsHtmlName(absl::string_view path);
// Whether it is to be a picture: SVG, or a page with one.
bool IsPictureName(absl::string_view path);
// Whether it names a kind of picture that is not supported.
bool IsOtherPictureName(absl::string_view path);

// Passes a picture on as part of a page. Not thread safe.
class HtmlPageSink final : public ByteSink {
 public:
  // `sink` must outlive it.
  HtmlPageSink(std::string title, ByteSink* sink)
      : title_(std::move(title)), sink_(*sink) {}

  // The first bytes must hold the whole XML declaration, which the page leaves
  // out.
  absl::Status Append(absl::string_view bytes) override;
  uint64_t bytes_written() const override { return sink_.bytes_written(); }
  // To be called once, after the picture. Without a picture no page is written.
  absl::Status End();

 private:
  const std::string title_;
  ByteSink& sink_;
  bool has_begun_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_HTML_PAGE_H_
