#include "tracer/objects/dump_name.h"

#include <stdio.h>
#include <string.h>

namespace pymemrun {

// "run.pb" gives "run.obj.pb", then "run.obj-1.pb" and so on.
bool DumpName(const char* run, uint32_t number, char* path, size_t size) {
  size_t stem = strlen(run);
  if (stem > 3 && strcmp(run + stem - 3, ".pb") == 0) stem -= 3;
  const int bytes = number == 0 ? snprintf(path, size, "%.*s.obj.pb",
                                           static_cast<int>(stem), run)
                                : snprintf(path, size, "%.*s.obj-%u.pb",
                                           static_cast<int>(stem), run, number);
  return bytes > 0 && static_cast<size_t>(bytes) < size;
}

bool AreDumpsOfOneRun(const char* one, const char* other) {
  // The common stem ends before "obj", which precedes the last dot.
  const char* const end = strrchr(one, '.');
  size_t stem = end != nullptr ? end - one : 0;
  while (stem > 0 && one[stem - 1] != '.') --stem;
  return stem > 0 && strncmp(one, other, stem) == 0 &&
         strncmp(other + stem, "obj", 3) == 0 &&
         strchr(other + stem, '/') == nullptr;
}

}  // namespace pymemrun
