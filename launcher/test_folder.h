// A scratch folder for the launcher's unit tests.
#ifndef PYMEMRUN_LAUNCHER_TEST_FOLDER_H_
#define PYMEMRUN_LAUNCHER_TEST_FOLDER_H_

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace pymemrun {

class TestFolder {
 public:
  TestFolder() : path_(mkdtemp(template_)) {}
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  ~TestFolder() { std::filesystem::remove_all(path_); }

  std::string operator/(const std::string& name) const {
    return path_ + "/" + name;
  }

  // Writes a file, with its folders; returns its path.
  std::string Write(const std::string& name, const std::string& content,
                    mode_t mode = 0644) const {
    std::string path = *this / name;
    std::filesystem::create_directories(
        std::filesystem::path(path).parent_path());
    std::ofstream(path) << content;
    chmod(path.c_str(), mode);
    return path;
  }

  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  char template_[32] = "/tmp/launcher_test_XXXXXX";
  std::string path_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_LAUNCHER_TEST_FOLDER_H_
