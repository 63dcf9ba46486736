#include "tracer/code/filters.h"

#include <fnmatch.h>

namespace pymemrun {
namespace {

bool MatchesAny(const char* const* globs, size_t count, const char* text) {
  for (size_t i = 0; i < count; ++i) {
    if (fnmatch(globs[i], text, 0) == 0) return true;
  }
  return false;
}

bool Passes(const char* const* globs, size_t count, const char* text) {
  return count == 0 || MatchesAny(globs, count, text);
}

}  // namespace

bool Filters::PassesFile(const char* path) const {
  return Passes(config_->include, config_->include_count, path) &&
         !MatchesAny(config_->exclude, config_->exclude_count, path);
}

bool Filters::PassesFunction(const char* name) const {
  return Passes(config_->function, config_->function_count, name);
}

bool Filters::PassesThread(const char* name) const {
  return Passes(config_->thread, config_->thread_count, name);
}

}  // namespace pymemrun
