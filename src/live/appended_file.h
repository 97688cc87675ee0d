// AppendedFile: a file that grows by being copied into: no system call and nothing that waits for a disk, and yet what
// was appended is in the system's page cache, which survives the end of the process. Room is made ahead, by another
// thread. Until close() the file ends with that room, as zeros. On file systems that cannot be mapped it is written
// like any other. Used by EventLog.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/channel.h"

namespace sluice::live {

class AppendedFile {
 public:
  // What there was is gone. Some room is there at once, and there will never be more than `most` bytes.
  [[nodiscard]] static Result<std::unique_ptr<AppendedFile>> create(const std::string& path, std::uint64_t most);
  ~AppendedFile();  // closes
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  // All or nothing, whenever the process may end: the first `last` bytes are copied after the others, so that it is
  // they who say that there is something. Waits only if room was not made in time.
  [[nodiscard]] Status append(std::string_view bytes, std::size_t last);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // Whether somebody should call make_room(): true once for each time.
  [[nodiscard]] bool wants_room();
  // Takes long. Any thread. What fails is told by the append that has no room.
  void make_room();
  // The room that was not used goes. Takes long; nothing may be appended any more.
  void close();

 private:
  static constexpr std::uint64_t kFirst = 256u << 10, kPiece = 1u << 20, kLeast = 64u << 10;

  AppendedFile(std::string path, wire::Descriptor file, std::uint64_t most)
      : path_(std::move(path)), file_(std::move(file)), most_(most) {}
  // Until so many bytes fit.
  [[nodiscard]] Status grow(std::uint64_t wanted);
  [[nodiscard]] Status write(std::string_view bytes);  // where nothing is mapped
  [[nodiscard]] Error failed(int reason) const;

  std::string path_;
  wire::Descriptor file_;
  std::atomic<std::uint64_t> size_ = 0, room_ = 0;
  std::atomic<bool> asked_ = false;
  std::uint64_t most_;  // addresses that are mapped: the file may be shorter
  std::byte* base_ = nullptr;
  std::mutex growing_;
  std::uint64_t released_ = 0;  // guarded by growing_: before it nothing is in our memory
};

}  // namespace sluice::live
