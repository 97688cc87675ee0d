// A folder for what a command needs while it runs; it goes with the object.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

namespace sluice::cli {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code failed;
    std::string pattern = (std::filesystem::temp_directory_path(failed) / "sluice-XXXXXX").string();
    if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
};

}  // namespace sluice::cli
