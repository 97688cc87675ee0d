// DirectoryLock: the data directory, made if it is not there, and locked for one process. The lock goes with the
// process however it ends. Used by Store.
#pragma once
#include <string>

#include "base/result.h"

namespace sluice::store {

class DirectoryLock {
 public:
  // Fails where another server has it, and says which one.
  [[nodiscard]] static Result<DirectoryLock> take(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&&) = delete;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int file) : file_(file) {}
  int file_;
};

}  // namespace sluice::store
