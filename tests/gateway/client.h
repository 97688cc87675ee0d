// A client on a plain socket: what it sends is bytes, so that broken requests can be sent as well.
#pragma once
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace sluice::gateway {

struct Answered {
  int status = 0;  // 0: hung up without an answer
  std::string head, body;
  [[nodiscard]] bool has(std::string_view header) const { return head.find(header) != std::string::npos; }
};

class Client {
 public:
  explicit Client(std::uint16_t port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (receive_buffer > 0) ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { close(); }
  Client(Client&& other) noexcept : socket_(std::exchange(other.socket_, -1)), in_(std::move(other.in_)) {}
  Client& operator=(Client&&) = delete;

  void close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }
  void end_sending() const { ::shutdown(socket_, SHUT_WR); }

  // False: the server hung up.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // The next answer, whole.
  Answered receive() {
    std::size_t end = std::string::npos;
    while ((end = in_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return {};
    }
    Answered answer{.status = 0, .head = in_.substr(0, end + 2), .body = {}};
    in_.erase(0, end + 4);
    std::from_chars(answer.head.data() + 9, answer.head.data() + 12, answer.status);
    std::size_t length = 0;
    if (const std::size_t at = answer.head.find("Content-Length: "); at != std::string::npos) {
      std::from_chars(answer.head.data() + at + 16, answer.head.data() + answer.head.size(), length);
    }
    while (in_.size() < length && more()) {
    }
    answer.body = in_.substr(0, length);
    in_.erase(0, std::min(length, in_.size()));
    return answer;
  }
  // The head of the next answer, to a request whose answer has no body.
  std::string receive_head() {
    std::size_t end = std::string::npos;
    while ((end = in_.find("\r\n\r\n")) == std::string::npos && more()) {
    }
    std::string head = in_.substr(0, end == std::string::npos ? 0 : end + 2);
    in_.erase(0, end == std::string::npos ? 0 : end + 4);
    return head;
  }
  // True once the server has hung up and nothing is left to read.
  bool is_closed() {
    while (more()) {
    }
    return in_.empty();
  }

  Answered ask(std::string_view bytes) {
    send(bytes);
    return receive();
  }
  Answered get(std::string_view target) {
    return ask(std::string("GET ") + std::string(target) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  Answered post(std::string_view target, std::string_view body, std::string_view headers = {}) {
    return ask(request("POST", target, body, headers));
  }

  static std::string request(std::string_view method, std::string_view target, std::string_view body,
                             std::string_view headers = {}) {
    return std::string(method) + " " + std::string(target) +
           " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(headers) + "\r\n" + std::string(body);
  }

 private:
  bool more() {
    pollfd waiting{socket_, POLLIN, 0};
    if (::poll(&waiting, 1, 20'000) <= 0) {
      ADD_FAILURE() << "no answer within 20 s";
      return false;
    }
    char buffer[65536];
    const ssize_t bytes = ::recv(socket_, buffer, sizeof buffer, 0);
    if (bytes <= 0) return false;
    in_.append(buffer, static_cast<std::size_t>(bytes));
    return true;
  }
  int socket_;
  std::string in_;
};

}  // namespace sluice::gateway
