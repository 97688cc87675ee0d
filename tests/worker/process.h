// A real worker process at the other end of a socket, and an arena that both map.
#pragma once
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "data/arena.h"
#include "support/places.h"
#include "wire/channel.h"
#include "wire/messages.h"

namespace sluice::test {

// Runs `command` with its last argument the number of a descriptor: the other end of the socket.
class Process {
 public:
  explicit Process(std::vector<std::string> command = {worker_program(), "--socket"}) {
    auto ends = wire::Channel::pair();
    EXPECT_TRUE(ends.ok());
    const int theirs = ends->second.descriptor();
    command.push_back(std::to_string(theirs));
    std::vector<char*> arguments;
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::fcntl(theirs, F_SETFD, 0);
      ::execvp(arguments[0], arguments.data());
      ::_exit(127);
    }
    channel_.emplace(std::move(ends->first));
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    if (pid_ > 0) (void)exit_status();
  }

  wire::Channel& channel() { return *channel_; }
  void signal(int number) const { ::kill(pid_, number); }
  // Closes the socket, if it is still open, and waits for the end. What a signal ended: 128 and its number.
  int exit_status() {
    channel_.reset();
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  std::optional<wire::Channel> channel_;
};

// Nothing: the other end is closed.
inline std::optional<std::string> next_message(wire::Channel& channel) {
  std::string message;
  pollfd readable{channel.descriptor(), POLLIN, 0};
  if (::poll(&readable, 1, 60'000) != 1 || channel.receive(message) != wire::Received::message) return std::nullopt;
  return message;
}

// The server's side of a conversation with one worker.
class Server {
 public:
  explicit Server(wire::Channel& channel, std::int64_t arena_bytes = 1 << 20)
      : channel_(channel), arena_(data::Arena::make(Bytes(arena_bytes)).value()) {}

  data::Arena& arena() { return *arena_; }

  void send(const wire::ToWorker& message, const std::vector<int>& descriptors = {}) {
    std::string bytes;
    ASSERT_TRUE(wire::encode(message, bytes).ok());
    ASSERT_TRUE(channel_.send(bytes, descriptors).ok());
  }
  // The next message, which has to be of this type; one of no content if it is not.
  template <class Message>
  Message next() {
    const auto bytes = next_message(channel_);
    if (!bytes) {
      ADD_FAILURE() << "the worker is gone";
      return {};
    }
    const auto message = wire::decode_from_worker(*bytes);
    if (!message || !std::holds_alternative<Message>(*message)) {
      ADD_FAILURE() << "another message was expected";
      return {};
    }
    return std::get<Message>(*message);
  }
  bool closed() { return !next_message(channel_).has_value(); }

  void hello(std::uint32_t lanes = 1, std::uint32_t slices = 0) {
    send(wire::Hello{.arena_bytes = arena_->capacity(), .lanes = lanes, .slices = slices}, {arena_->descriptor()});
    greeted_ = true;
  }
  wire::Loaded load(wire::Load load) {
    if (!greeted_) hello();
    const std::uint32_t function = load.function;
    send(std::move(load));
    auto loaded = next<wire::Loaded>();
    EXPECT_EQ(loaded.function, function);
    return loaded;
  }
  wire::Loaded load(Body body, std::vector<Port> inputs = {}, std::vector<Port> outputs = {}) {
    return load({.name = "f", .body = std::move(body), .inputs = std::move(inputs), .outputs = std::move(outputs)});
  }
  // With enough space for outputs, unless the batch brings its own.
  wire::Ran run(wire::Run run) {
    run.batch = ++batch_;
    if (run.outputs.size == 0) run.outputs = space(64 << 10);
    send(std::move(run));
    auto ran = next<wire::Ran>();
    EXPECT_EQ(ran.batch, batch_);
    return ran;
  }
  // Held until the server goes.
  wire::Space space(std::size_t bytes) {
    blocks_.push_back(arena_->allocate(bytes).value());
    return {blocks_.back().offset(), bytes};
  }
  wire::Placed put(data::TensorInfo info, const std::string& bytes, std::int32_t row = wire::kAllRows) {
    const auto [offset, size] = space(bytes.size());
    std::memcpy(arena_->base() + offset, bytes.data(), bytes.size());
    return {std::move(info), row, offset, size};
  }
  std::string bytes(const wire::Placed& placed) const {
    return {reinterpret_cast<const char*>(arena_->base() + placed.offset), placed.size};
  }

 private:
  wire::Channel& channel_;
  std::shared_ptr<data::Arena> arena_;
  std::vector<data::Block> blocks_;
  std::uint64_t batch_ = 0;
  bool greeted_ = false;
};

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}
template <class T>
std::vector<T> values_of(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}
// Elements of type bytes.
inline std::string texts(std::initializer_list<std::string> values) {
  std::string bytes;
  for (const std::string& value : values) {
    const auto length = static_cast<std::uint32_t>(value.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes += value;
  }
  return bytes;
}

}  // namespace sluice::test
