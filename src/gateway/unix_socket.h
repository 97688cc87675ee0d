// A Unix socket in the file system that only the server's own user can open. Used by HttpServer.
#pragma once
#include <string>

#include "base/result.h"

namespace sluice::gateway {

// Listens from now on; goes with its file. What a server that was killed left there is replaced.
class UnixSocket {
 public:
  [[nodiscard]] static Result<UnixSocket> listen(const std::string& path);
  UnixSocket(UnixSocket&& other) noexcept;
  UnixSocket& operator=(UnixSocket&&) = delete;
  ~UnixSocket();

  // A connection that waits, closed on exec; below zero: none. Does not wait.
  [[nodiscard]] int accept() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  UnixSocket(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

}  // namespace sluice::gateway
