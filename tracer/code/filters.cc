#include "tracer/code/filters.h"

#include <fnmatch.h>

namespace pymemrun {
namespace {

// By fnmatch(3) without FNM_PATHNAME: a star also matches slashes.
bool MatchesAny(Globs globs, const char* text) {
  for (const char* glob : globs) {
    if (fnmatch(glob, text, 0) == 0) return true;
  }
  return false;
}

bool Passes(Globs globs, const char* text) {
  return globs.empty() || MatchesAny(globs, text);
}

}  // namespace

bool Filters::PassesFile(const char* path) const {
  return Passes(config_->include, path) && !MatchesAny(config_->exclude, path);
}

bool Filters::PassesFunction(const char* name) const {
  return Passes(config_->function, name);
}

bool Filters::PassesThread(const char* name) const {
  return Passes(config_->thread, name);
}

}  // namespace pymemrun
