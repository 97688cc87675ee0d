// Channel: one end of a socket between the server and a worker (AF_UNIX, SOCK_SEQPACKET), with descriptors beside
// messages. The server's ends do not block, a worker's do.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::wire {

// Closes a descriptor when it goes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      value_ = std::exchange(other.value_, -1);
    }
    return *this;
  }
  ~Descriptor() { reset(); }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] bool valid() const { return value_ >= 0; }
  int release() { return std::exchange(value_, -1); }
  void reset();

 private:
  int value_ = -1;
};

enum class Received { message, nothing, closed };

class Channel {
 public:
  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}
  // Both ends; the first one does not block.
  [[nodiscard]] static Result<std::pair<Channel, Channel>> pair();

  [[nodiscard]] int descriptor() const { return socket_.get(); }
  Descriptor take() { return std::move(socket_); }

  // An error if the other end is gone, or (not blocking) does not read what was sent before.
  [[nodiscard]] Status send(std::string_view message, const std::vector<int>& descriptors = {});
  // One message into `message`, with the descriptors that came along, if any. `nothing` only where it does not block.
  // What is longer than a message may be counts as closed: the other end does not keep to the protocol.
  [[nodiscard]] Received receive(std::string& message, std::vector<Descriptor>* descriptors = nullptr);

 private:
  Descriptor socket_;
  std::unique_ptr<char[]> buffer_;  // for the largest message, made when first needed
};

}  // namespace sluice::wire
