// The file of a model, for engines that read it as a stream: as it came with the order to load it, since a worker that
// is kept from the server's folders can open it by no name, or else by its name.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <istream>
#include <streambuf>
#include <string>

namespace sluice::engine {

// Bytes of a descriptor, from anywhere in it, whoever else reads it.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {}

 private:
  int_type underflow() override {
    const ssize_t got = ::pread(descriptor_, bytes_.data(), bytes_.size(), end_);
    if (got <= 0) return traits_type::eof();
    end_ += got;
    setg(bytes_.data(), bytes_.data(), bytes_.data() + got);
    return traits_type::to_int_type(bytes_.front());
  }
  pos_type seekoff(off_type offset, std::ios::seekdir from, std::ios::openmode) override {
    const off_t here = end_ - (egptr() - gptr());
    const off_t base = from == std::ios::beg ? 0 : from == std::ios::cur ? here : ::lseek(descriptor_, 0, SEEK_END);
    return base + offset < 0 ? pos_type(off_type(-1)) : go_to(base + offset);
  }
  pos_type seekpos(pos_type position, std::ios::openmode) override { return go_to(position); }
  pos_type go_to(off_t position) {
    end_ = position;
    setg(nullptr, nullptr, nullptr);
    return position;
  }

  int descriptor_;
  off_t end_ = 0;  // of what is in the buffer
  std::array<char, 1u << 16> bytes_{};
};

// For people: where the file lies is the server's business.
[[nodiscard]] inline std::string shown_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

class ModelFile {
 public:
  // `descriptor`: open for reading, and stays the caller's; negative: there is none.
  ModelFile(const std::string& name, int descriptor)
      : opened_(descriptor >= 0 ? -1 : ::open(name.c_str(), O_RDONLY | O_CLOEXEC)),
        buffer_(descriptor >= 0 ? descriptor : opened_),
        stream_(&buffer_) {
    if (descriptor < 0 && opened_ < 0) stream_.setstate(std::ios::failbit);
  }
  ~ModelFile() {
    if (opened_ >= 0) ::close(opened_);
  }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(stream_); }
  [[nodiscard]] std::istream& stream() { return stream_; }

 private:
  int opened_;
  DescriptorBuffer buffer_;
  std::istream stream_;
};

}  // namespace sluice::engine
