// ByteStream: bytes that are appended to a text, taken from one, or hashed, by the same calls. What Archive walks on.
#pragma once
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/hash.h"

namespace sluice {

class ByteStream {
 public:
  [[nodiscard]] bool is_loading() const { return out_ == nullptr && hash_ == nullptr; }
  // False once the input was too short or made no sense; values read after that are zero. Saving: false if a value is
  // nested too deep, which could not be loaded again.
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return in_.empty(); }
  void fail() { ok_ = false; }

  // The length of a list; a hostile one cannot ask for more elements than there are bytes left.
  std::size_t length(std::size_t size) {
    auto count = static_cast<std::uint64_t>(size);
    raw(&count, sizeof count);
    if (!is_loading()) return size;
    if (count > in_.size()) ok_ = false;
    return ok_ ? static_cast<std::size_t>(count) : 0;
  }

 protected:
  ByteStream(std::string* out, std::string_view in, Hash* hash) : out_(out), in_(in), hash_(hash) {}

  void raw(void* data, std::size_t size) {
    if (out_ != nullptr) {
      out_->append(static_cast<const char*>(data), size);
    } else if (hash_ != nullptr) {
      hash(data, size);
    } else if (!ok_ || in_.size() < size) {
      ok_ = false;
      std::memset(data, 0, size);
    } else {
      std::memcpy(data, in_.data(), size);
      in_.remove_prefix(size);
    }
  }

 private:
  // What has no fixed size brings its length along.
  void hash(const void* data, std::size_t size) {
    std::uint64_t word = 0;
    if (size > sizeof word) return hash_->add(std::string_view(static_cast<const char*>(data), size));
    std::memcpy(&word, data, size);
    hash_->add_word(word);
  }

  std::string* out_;
  std::string_view in_;
  Hash* hash_;
  bool ok_ = true;
};

}  // namespace sluice
