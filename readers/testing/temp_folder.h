// A folder of a test's own, for files beside each other.
#ifndef PYMEMRUN_READERS_TESTING_TEMP_FOLDER_H_
#define PYMEMRUN_READERS_TESTING_TEMP_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace pymemrun {

// It is removed with the object.
class TempFolder {
 public:
  TempFolder() {
    char folder[] = "/tmp/readers_test.XXXXXX";
    path_ = mkdtemp(folder);
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  // Returns the file's path.
  std::string Write(const std::string& name,
                    const std::string& contents) const {
    std::ofstream(path_ + "/" + name) << contents;
    return path_ + "/" + name;
  }

 private:
  std::string path_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_TESTING_TEMP_FOLDER_H_
