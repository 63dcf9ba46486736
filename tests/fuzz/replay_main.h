// For fuzz targets that are built without libFuzzer: replays the files of the
// folders given.
#ifndef PYMEMRUN_TESTS_FUZZ_REPLAY_MAIN_H_
#define PYMEMRUN_TESTS_FUZZ_REPLAY_MAIN_H_

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  size_t files = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::stringstream contents;
      contents << std::ifstream(entry.path(), std::ios::binary).rdbuf();
      const std::string bytes = contents.str();
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()),
                             bytes.size());
      ++files;
    }
  }
  printf("%zu files\n", files);
  return files == 0 ? 1 : 0;
}

#endif  // PYMEMRUN_TESTS_FUZZ_REPLAY_MAIN_H_
