#include "readers/options/conflicts.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "readers/options/command_line.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

// A rule is a validator of the option that it is about. Its name says which
// kind it is; its description is "these\nothers", a sentence, or
// "sentence\nneeded".
constexpr char kExcludes[] = "excludes", kSentence[] = "sentence";
constexpr char kNeeds[] = "needs";

// "--by task|module".
struct Choice {
  explicit Choice(const std::string& text) {
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    name = words[0];
    if (words.size() > 1) values = absl::StrSplit(words[1], '|');
  }
  // An option that was not given has its default, if that is to count.
  bool IsMade(const CLI::App& app, bool by_default) const {
    const CLI::Option* const option = app.get_option(name);
    std::vector<std::string> given = option->results();
    if (given.empty() && !by_default) return false;
    if (given.empty()) given = {option->get_default_str()};
    return values.empty()
               ? option->count() > 0
               : std::find_first_of(given.begin(), given.end(), values.begin(),
                                    values.end()) != given.end();
  }

  // "task, module: needs a run."; without values "Needs a run."
  std::string Says(std::string sentence) const {
    if (!values.empty()) {
      return absl::StrCat(absl::StrJoin(values, ", "), ": ", sentence);
    }
    sentence[0] = absl::ascii_toupper(sentence[0]);
    return sentence;
  }

  std::string name;
  std::vector<std::string> values;  // any of these; none: any
};

// "a, b or c".
std::string Listed(std::vector<std::string> names) {
  const std::string last = names.back();
  names.pop_back();
  return absl::StrCat(absl::StrJoin(names, ", "), names.empty() ? "" : " or ",
                      last);
}

// "--by task", "--csv". What a command's name stands for was given as that:
// "tree". A value that may be left out may have been.
std::string AsGiven(const CLI::App& app, const CLI::Option& option) {
  if (option.get_group() == kGivenOptions) {
    return app.get_name().substr(app.get_name().rfind(' ') + 1);
  }
  const bool has_value = option.count() == 1 &&
                         option.get_items_expected_max() != 0 &&
                         !absl::StartsWith(option.get_option_text(), "[");
  return absl::StrCat(option.get_name(), has_value ? " " : "",
                      has_value ? TerminalText(option.results()[0]) : "");
}

// `problem`: what is wrong where the choice was made; empty: nothing.
void AddRule(CLI::App* app, const Choice& choice, const char* kind,
             const std::string& says, std::function<std::string()> problem) {
  const auto check = [app, choice, problem = std::move(problem)](std::string&) {
    const std::string wrong = choice.IsMade(*app, false) ? problem() : "";
    if (wrong.empty()) return wrong;
    throw CLI::ExcludesError(wrong, CLI::ExitCodes::ExcludesError);
  };
  app->get_option(choice.name)->check(CLI::Validator(check, says, kind));
}

// "--csv does not go with --json": the option that was added first is first.
std::string DoNotGo(const CLI::App& app, const std::string& one,
                    const std::string& other) {
  std::vector<std::string> given;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_name() == one || option->get_name() == other) {
      given.push_back(AsGiven(app, *option));
    }
  }
  return absl::StrJoin(given, " does not go with ");
}

// Other validators of the option are among them: they have other names.
std::vector<CLI::Validator*> RulesOf(CLI::Option* option) {
  std::vector<CLI::Validator*> rules;
  try {
    for (int i = 0;; ++i) rules.push_back(option->get_validator(i));
  } catch (const CLI::OptionNotFound&) {
    return rules;  // CLI11 does not say how many there are
  }
}

// What options do not go with the option, by the value that it has then.
using Excluded = std::vector<std::pair<std::string, std::vector<std::string>>>;

void AddOnce(const std::string& own, const std::string& other, Excluded* to) {
  const std::string value = absl::StrJoin(Choice(own).values, ", ");
  auto found = std::find_if(to->begin(), to->end(), [&](const auto& known) {
    return known.first == value;
  });
  if (found == to->end()) found = to->insert(found, {value, {}});
  std::vector<std::string>& others = found->second;
  if (std::count(others.begin(), others.end(), other) == 0) {
    others.push_back(other);
  }
}

// Whether a command's name stands for what the rule needs.
bool NeedsGiven(const CLI::App& app, const std::string& says) {
  const std::string needed = says.substr(says.find('\n') + 1);
  return app.get_option(needed.substr(0, needed.find_first_of(" |")))
             ->get_group() == kGivenOptions;
}

// Whether no more words can give what is needed: the option has another value,
// or is hidden.
bool IsOutOfReach(const CLI::App& app, const std::string& needed) {
  if (needed.find(' ') == std::string::npos) return false;
  const Choice choice(needed);
  const CLI::Option* const option = app.get_option(choice.name);
  return !choice.IsMade(app, false) &&
         (option->count() > 0 || option->get_group() == kUselessOptions);
}

}  // namespace

void Exclude(CLI::App* app, const std::vector<std::string>& these,
             const std::vector<std::string>& others, const std::string& why) {
  const std::string reason = why.empty() ? "" : absl::StrCat(": ", why);
  for (const std::string& one : these) {
    for (const std::string& other : others) {
      const Choice choice(one), excluded(other);
      app->get_option(excluded.name);  // it must be there
      AddRule(app, choice, kExcludes, absl::StrCat(one, "\n", other), [=] {
        return excluded.IsMade(*app, false)
                   ? DoNotGo(*app, choice.name, excluded.name) + reason
                   : "";
      });
    }
  }
}

void ExcludeEachOther(CLI::App* app, const std::vector<std::string>& names) {
  for (size_t i = 1; i < names.size(); ++i) {
    Exclude(app, {names[i]}, {names.begin(), names.begin() + i});
  }
}

void Need(CLI::App* app, const std::vector<std::string>& these,
          const std::string& needed) {
  // Values of one option, or options.
  const bool by_value = needed.find(' ') != std::string::npos;
  const std::vector<std::string> names = absl::StrSplit(needed, '|');
  const std::string needs =
      absl::StrCat("needs ", by_value ? Choice(needed).name + " " : "",
                   Listed(by_value ? Choice(needed).values : names));
  for (const std::string& one : these) {
    const Choice choice(one);
    AddRule(app, choice, kNeeds,
            absl::StrCat(choice.Says(needs), ".\n", needed), [=] {
              const bool there =
                  by_value ? Choice(needed).IsMade(*app, true)
                           : std::any_of(names.begin(), names.end(),
                                         [app](const std::string& name) {
                                           return app->count(name) > 0;
                                         });
              return there ? ""
                           : absl::StrCat(
                                 AsGiven(*app, *app->get_option(choice.name)),
                                 " ", needs);
            });
  }
}

// Rules are on either side: each is compared with the option in both roles.
bool GoesWithGiven(CLI::App* app, const CLI::Option& option) {
  for (CLI::Option* one : app->get_options([](CLI::Option*) { return true; })) {
    for (const CLI::Validator* rule : RulesOf(one)) {
      const std::vector<std::string> sides =
          absl::StrSplit(rule->get_description(), '\n');
      if (rule->get_name() == kNeeds && one == &option && sides[0][0] == 'N' &&
          IsOutOfReach(*app, sides[1])) {
        return false;
      }
      if (rule->get_name() != kExcludes) continue;
      for (const size_t i : {0, 1}) {
        const Choice other(sides[1 - i]);
        if (Choice(sides[i]).name == option.get_name() &&
            other.IsMade(*app, false)) {
          return false;
        }
      }
    }
  }
  return true;
}

bool IsChosen(const CLI::App& app, const std::string& choice) {
  return Choice(choice).IsMade(app, /*by_default=*/true);
}

void AddNote(CLI::App* app, const std::string& choice,
             const std::string& note) {
  const Choice of(choice);
  app->get_option(of.name)->check(CLI::Validator(
      [](std::string&) { return std::string(); }, of.Says(note), kSentence));
}

std::string NotesOf(CLI::App* app, CLI::Option* option) {
  Excluded excluded;
  std::string sentences;
  for (CLI::Option* one : app->get_options([](CLI::Option*) { return true; })) {
    for (const CLI::Validator* rule : RulesOf(one)) {
      const std::string says = rule->get_description();
      const bool is_sentence =
          rule->get_name() == kSentence || rule->get_name() == kNeeds;
      const bool is_given =
          rule->get_name() == kNeeds && NeedsGiven(*app, says);
      if (is_sentence && one == option && !is_given) {
        absl::StrAppend(&sentences, " ", says.substr(0, says.find('\n')));
      }
      if (rule->get_name() != kExcludes) continue;
      const std::pair<std::string, std::string> sides =
          absl::StrSplit(says, '\n');
      const auto is_shown = [app](const std::string& other) {
        return IsShown(*app->get_option(Choice(other).name));
      };
      if (one == option && is_shown(sides.second)) {
        AddOnce(sides.first, sides.second, &excluded);
      }
      if (Choice(sides.second).name == option->get_name() &&
          is_shown(sides.first)) {
        AddOnce(sides.second, sides.first, &excluded);
      }
    }
  }
  std::string text;
  for (const auto& [value, others] : excluded) {
    absl::StrAppend(&text, " ", value, value.empty() ? "N" : ": n", "ot with ",
                    Listed(others), ".");
  }
  return text + sentences;
}

}  // namespace pymemrun
