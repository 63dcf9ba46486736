#include "collector/output/run_name.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "format/records/read_steps.h"
#include "format/records/record_visitor.h"

namespace pymemrun {
namespace {

// Keeps the header, which is a file's first record.
class HeaderVisitor final : public RecordVisitor {
 public:
  void OnHeader(const Header& header) override { header_ = header; }
  const std::optional<Header>& header() const { return header_; }

 private:
  std::optional<Header> header_;
};

}  // namespace

absl::StatusOr<std::string> RunName(ByteSource* source) {
  HeaderVisitor visitor;
  ReadSteps steps(source, StreamReader::Options(), &visitor);
  absl::StatusOr<bool> more = true;
  // No further: a dump of the object graph may have gigabytes.
  while (more.ok() && *more && !visitor.header().has_value()) {
    more = steps.Step();
  }
  if (!visitor.header().has_value()) {
    return more.ok() ? absl::InvalidArgumentError("no header") : more.status();
  }
  const absl::Time start =
      absl::FromUnixNanos(visitor.header()->start_realtime_ns());
  return absl::StrCat(
      absl::FormatTime("%Y%m%d_%H%M%S_", start, absl::LocalTimeZone()),
      visitor.header()->pid());
}

int PrintRunName(const char* path) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    std::fprintf(stderr, "pymemrun-collector: %s: %m\n", path);
    return 1;
  }
  FdSource source(fd);
  const absl::StatusOr<std::string> name = RunName(&source);
  close(fd);
  if (!name.ok()) {
    std::fprintf(stderr, "pymemrun-collector: %s: %s\n", path,
                 std::string(name.status().message()).c_str());
    return 1;
  }
  std::printf("%s\n", name->c_str());
  return 0;
}

}  // namespace pymemrun
