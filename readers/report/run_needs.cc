#include "readers/report/run_needs.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "readers/options/conflicts.h"

namespace pymemrun {

// A choice such as "--by task|module" holds if the option has one of these
// values.
std::vector<Recorded> RunNeeds::Of(const CLI::App& app) const {
  const auto is_chosen = [&app](const std::string& choice) {
    return IsChosen(app, choice);
  };
  std::vector<Recorded> needed;
  for (const RunNeed& need : all_) {
    if ((need.choice.empty() || is_chosen(need.choice)) &&
        std::none_of(need.except.begin(), need.except.end(), is_chosen)) {
      needed.push_back(need.what);
    }
  }
  return needed;
}

// A need of some option is a note behind that option's help. One of the whole
// command ends the first paragraph of its description, which --help prints,
// too.
void RunNeeds::AddToHelp(CLI::App* app) const {
  for (const RunNeed& need : all_) {
    const std::string needs =
        absl::StrCat("needs a run with ", NeedText(need.what),
                     need.except.empty() ? "" : ", except with ",
                     absl::StrJoin(need.except, " or "), ".");
    if (!need.choice.empty()) {
      AddNote(app, need.choice, needs);
      continue;
    }
    std::string text = app->get_description();
    const size_t end = text.find("\n\n");
    text.insert(end == std::string::npos ? text.size() : end,
                absl::StrCat(" It ", needs));
    app->description(text);
  }
}

}  // namespace pymemrun
