#include "launcher/options/command_line.h"

#include <iterator>
#include <string_view>

#include "text/nearest_name.h"

namespace pymemrun {
namespace {

// CPython's short options (Python/getopt.c); a colon follows those that take a
// value. -J is in its table only to be refused.
constexpr std::string_view kShortOptions = "bBc:dEhiIm:OPqRsStuvVW:xX:?";
constexpr const char* kPythonLongOptions[] = {"help-env", "help-xoptions"};
// Takes a value.
constexpr char kHashPycs[] = "check-hash-based-pycs";

// One pass over the words. Each is taken as an option of pymemrun, as options
// of the interpreter, or as the script, which ends the options. Words of the
// interpreter are passed on as they are, also those that it will refuse: its
// own message is the best.
class Splitter {
 public:
  Splitter(int argc, const char* const* argv,
           const std::vector<OptionName>& names, CommandLine* out,
           std::string* error)
      : names_(names), out_(*out), error_(*error) {
    if (argc > 1) arguments_.assign(argv + 1, argv + argc);
  }

  bool Split() {
    while (!done_ && next_ < arguments_.size()) {
      if (!Take(arguments_[next_])) return false;
    }
    // `python3 -V script` prints the version and runs nothing.
    if (version_ || refused_) out_.form = ProgramForm::kNone;
    return true;
  }

 private:
  // A lone "-" is the standard input, as for CPython.
  bool Take(const std::string& word) {
    if (word == "-" || word.empty() || word[0] != '-') {
      Program(word);
      return true;
    }
    if (word == "--") {
      Dashes();
      return true;
    }
    if (word[1] == '-') return TakeLong(word);
    for (size_t i = 0; i < names_.size(); ++i) {
      if (!names_[i].has_letter || names_[i].name[0] != word[1]) continue;
      return TakeOwnLetter(i, word);
    }
    TakeShort(word);
    return true;
  }

  // The first `--` is pymemrun's and is dropped. After the second one, which is
  // the interpreter's, comes the script.
  void Dashes() {
    ++next_;
    if (!after_dashes_) {
      after_dashes_ = true;
      return;
    }
    out_.python.push_back("--");
    if (next_ < arguments_.size()) Program(arguments_[next_]);
    done_ = true;
  }

  void Program(const std::string& word) {
    out_.form = word == "-" ? ProgramForm::kStdin : ProgramForm::kScript;
    if (out_.form == ProgramForm::kScript) out_.target = word;
    out_.script_at = out_.python.size();
    Rest();
  }

  // All that is left belongs to the program, or to the interpreter's error.
  void Rest() {
    out_.python.insert(out_.python.end(), arguments_.begin() + next_,
                       arguments_.end());
    next_ = arguments_.size();
    done_ = true;
  }

  // The interpreter will print something and end. So the rest is left to it,
  // and there is nothing to trace.
  void Refused() {
    refused_ = true;
    Rest();
  }

  // `-oPATH` or `-o PATH`.
  bool TakeOwnLetter(size_t option, const std::string& word) {
    ++next_;
    std::string value = word.substr(2);
    if (value.empty() && !Next(word, &value)) return false;
    out_.own.push_back({option, value});
    return true;
  }

  bool Next(const std::string& word, std::string* value) {
    if (next_ == arguments_.size()) {
      error_ = "option " + word + " needs a value";
      return false;
    }
    *value = arguments_[next_++];
    return true;
  }

  bool TakeLong(const std::string& word) {
    size_t equals = word.find('=');
    bool attached = equals != std::string::npos;
    std::string name = word.substr(2, attached ? equals - 2 : equals);
    for (size_t i = 0; i < names_.size(); ++i) {
      if (name != names_[i].name) continue;
      return TakeOwn(i, word, equals);
    }
    if (name == kHashPycs) {
      TakeHashPycs(attached);
      return true;
    }
    for (const char* python : kPythonLongOptions) {
      if (name != python) continue;
      Refused();  // it prints, and runs nothing
      return true;
    }
    error_ = "unknown option --" + name + Nearest(name);
    return false;
  }

  bool TakeOwn(size_t option, const std::string& word, size_t equals) {
    ++next_;
    std::string value;
    if (equals != std::string::npos) {
      if (!names_[option].takes_value) {
        error_ = "option " + word.substr(0, equals) + " takes no value";
        return false;
      }
      value = word.substr(equals + 1);
    } else if (names_[option].takes_value && !Next(word, &value)) {
      return false;
    }
    out_.own.push_back({option, value});
    return true;
  }

  void TakeHashPycs(bool attached) {
    // The interpreter knows it only with the value as the next word.
    if (attached || next_ + 1 >= arguments_.size()) return Refused();
    const std::string& mode = arguments_[next_ + 1];
    if (mode != "always" && mode != "never" && mode != "default") {
      return Refused();
    }
    for (int i = 0; i < 2; ++i) out_.python.push_back(arguments_[next_++]);
  }

  // A cluster such as -bBc: letters up to the first that takes a value. The
  // value is the rest of the word or, if nothing is left, the next word.
  void TakeShort(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      char letter = word[i];
      size_t at = kShortOptions.find(letter);
      if (at == std::string_view::npos || letter == ':') return Refused();
      if (letter == 'h' || letter == '?') return Refused();
      if (letter == 'V') version_ = true;
      bool valued =
          at + 1 < kShortOptions.size() && kShortOptions[at + 1] == ':';
      if (!valued) continue;
      return TakeValued(letter, word.substr(i + 1));
    }
    out_.python.push_back(word);
    ++next_;
  }

  // -c and -m end the options: all words after the value are the program's.
  void TakeValued(char letter, std::string value) {
    bool separate = value.empty();
    if (separate) {
      if (next_ + 1 >= arguments_.size()) return Refused();
      value = arguments_[next_ + 1];
    }
    if (letter == 'c' || letter == 'm') {
      out_.form = letter == 'c' ? ProgramForm::kCode : ProgramForm::kModule;
      out_.target = value;
      return Rest();
    }
    out_.python.push_back(arguments_[next_++]);
    if (separate) out_.python.push_back(arguments_[next_++]);
  }

  std::string Nearest(const std::string& name) const {
    std::vector<std::string> known(std::begin(kPythonLongOptions),
                                   std::end(kPythonLongOptions));
    known.push_back(kHashPycs);
    for (const OptionName& own : names_) known.push_back(own.name);
    std::string best = NearestName(name, known);
    if (best.empty()) return "; --help-all lists all options";
    return "; did you mean --" + best + "?";
  }

  const std::vector<OptionName>& names_;
  CommandLine& out_;
  std::string& error_;
  std::vector<std::string> arguments_;
  size_t next_ = 0;
  bool after_dashes_ = false;
  bool version_ = false;  // -V seen
  bool refused_ = false;  // the interpreter will print or refuse
  bool done_ = false;
};

}  // namespace

bool SplitCommandLine(int argc, const char* const* argv,
                      const std::vector<OptionName>& names,
                      CommandLine* command_line, std::string* error) {
  return Splitter(argc, argv, names, command_line, error).Split();
}

// The first `--` is the one that pymemrun drops, and without names all that
// follows is the interpreter's. Its own message is the best for what it
// refuses, and it prints and ends for `--version`, which is unknown here.
void TakeWordsOfInterpreter(size_t at, CommandLine* command_line) {
  const std::vector<std::string>& words = command_line->python;
  std::vector<const char*> argv = {"python3", "--"};
  for (auto word = words.begin() + at; word != words.end(); ++word) {
    argv.push_back(word->c_str());
  }
  CommandLine read;
  std::string error;
  if (!SplitCommandLine(static_cast<int>(argv.size()), argv.data(), {}, &read,
                        &error)) {
    read.form = ProgramForm::kNone;
  }
  command_line->form = read.form;
  command_line->target = read.target;
  command_line->script_at = at + read.script_at;
}

}  // namespace pymemrun
