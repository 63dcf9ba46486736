// A picture as a page of HTML: SVG between a head and an end, for those who ask
// for a name that ends in .html.
#ifndef PYMEMRUN_READERS_OUTPUT_HTML_PAGE_H_
#define PYMEMRUN_READERS_OUTPUT_HTML_PAGE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "format/stream/byte_io.h"

namespace pymemrun {

// Whether a file of such a name is a page.
bool IsHtmlName(absl::string_view path);
// Whether it is a picture: SVG, or a page with one.
bool IsPictureName(absl::string_view path);
// Whether it is a picture of another kind, which nothing here makes.
bool IsOtherPictureName(absl::string_view path);

// Hands on a picture with what makes it a page. Not thread safe.
class HtmlPageSink final : public ByteSink {
 public:
  // `sink` must outlive it.
  HtmlPageSink(std::string title, ByteSink* sink)
      : title_(std::move(title)), sink_(*sink) {}

  // The first bytes hold the whole XML declaration, which a page has not.
  absl::Status Append(absl::string_view bytes) override;
  uint64_t bytes_written() const override { return sink_.bytes_written(); }
  // To be called once, after the picture. Nothing becomes no page.
  absl::Status End();

 private:
  const std::string title_;
  ByteSink& sink_;
  bool has_begun_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OUTPUT_HTML_PAGE_H_
