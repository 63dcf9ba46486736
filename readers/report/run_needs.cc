#include "readers/report/run_needs.h"

#include "absl/strings/str_cat.h"
#include "readers/options/conflicts.h"

namespace pymemrun {

std::vector<Recorded> RunNeeds::Of(const CLI::App& app) const {
  std::vector<Recorded> needed;
  for (const RunNeed& need : all_) {
    const CLI::Option* const option =
        need.option.empty() ? nullptr : app.get_option(need.option);
    if (option != nullptr &&
        (option->count() == 0 ||
         (!need.value.empty() && option->results().back() != need.value))) {
      continue;
    }
    needed.push_back(need.what);
  }
  return needed;
}

void RunNeeds::AddToHelp(CLI::App* app) const {
  for (const RunNeed& need : all_) {
    if (!need.option.empty()) {
      AddNote(app->get_option(need.option),
              absl::StrCat(need.value, need.value.empty() ? "N" : ": n",
                           "eeds a run with ", NeedText(need.what), "."));
      continue;
    }
    std::string text = app->get_description();
    const size_t end = text.find("\n\n");
    text.insert(
        end == std::string::npos ? text.size() : end,
        absl::StrCat(" It needs a run with ", NeedText(need.what), "."));
    app->description(text);
  }
}

}  // namespace pymemrun
