#include "readers/cat/time_reading.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "readers/moments/moment_reading.h"
#include "readers/run/reread_file.h"

namespace pymemrun {

bool FindTimes(const CatOptions& options, const InputFile& input,
               const Console& console, FilterOptions* filter, int* code) {
  const std::string& name = input.shown_name();
  if (input.size_bytes() == 0) {
    console.Say(absl::StrCat(
        name, ": can be read once only: --from and --to take times alone"));
    *code = kExitUsage;
    return false;
  }
  Console quiet = console;
  quiet.err_fd = -1;
  const auto file = RereadFile::Open(input.path(), quiet);
  std::unique_ptr<RunMoments> moments;
  MomentRange range;
  if (file != nullptr && FindRange(options.from, options.to, file.get(),
                                   console, &moments, &range, code)) {
    filter->from_us = range.from_us;
    filter->to_us = range.to_us;
    return true;
  }
  if (moments == nullptr) {
    console.Say(absl::StrCat(name, ": no moment can be found in it"));
    *code = kExitFailed;
  }
  return false;
}

}  // namespace pymemrun
