// A server with canned answers on a port of its own: what the commands sent is kept, what they print is compared.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace sluice::test {

class FakeServer {
 public:
  struct Heard {
    std::string method, target, head, body;
  };

  FakeServer() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    (void)::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    (void)::listen(listener_, 16);
    socklen_t size = sizeof address;
    (void)::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  // On a Unix socket at `path`, which is made.
  explicit FakeServer(const std::string& path) : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    (void)::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    (void)::listen(listener_, 16);
    thread_ = std::thread([this] { serve(); });
  }
  ~FakeServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  FakeServer(const FakeServer&) = delete;
  FakeServer& operator=(const FakeServer&) = delete;

  // For "GET /v1/status"; several answers to the same come one after the other, the last one stays.
  void answer(const std::string& request, const std::string& body, const std::string& status = "200 OK",
              const std::string& headers = "") {
    raw(request,
        "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body);
  }
  // The bytes of an answer as they are.
  void raw(const std::string& request, std::string bytes) {
    const std::lock_guard lock(mutex_);
    answers_[request].push_back(std::move(bytes));
  }

  [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  [[nodiscard]] std::string option() const { return " --server " + address() + " "; }
  [[nodiscard]] std::vector<Heard> heard() const {
    const std::lock_guard lock(mutex_);
    return heard_;
  }

 private:
  void serve() {
    for (int client = -1; (client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      std::string buffer;
      while (one(client, buffer)) {
      }
      ::close(client);
    }
  }

  static bool more(int client, std::string& buffer) {
    char part[65536];
    const ssize_t got = ::recv(client, part, sizeof part, 0);
    if (got > 0) buffer.append(part, static_cast<std::size_t>(got));
    return got > 0;
  }

  // False: the connection is over.
  bool one(int client, std::string& buffer) {
    std::size_t end = 0;
    while ((end = buffer.find("\r\n\r\n")) == std::string::npos) {
      if (!more(client, buffer)) return false;
    }
    Heard heard;
    heard.head = buffer.substr(0, end + 2);
    buffer.erase(0, end + 4);
    const std::size_t blank = heard.head.find(' ');
    heard.method = heard.head.substr(0, blank);
    heard.target = heard.head.substr(blank + 1, heard.head.find(' ', blank + 1) - blank - 1);
    const std::size_t length = heard.head.find("\r\nContent-Length: ");
    const std::size_t bytes = length == std::string::npos ? 0 : std::stoul(heard.head.substr(length + 18));
    while (buffer.size() < bytes) {
      if (!more(client, buffer)) return false;
    }
    heard.body = buffer.substr(0, bytes);
    buffer.erase(0, bytes);
    const std::string bytes_out = reply(std::move(heard));
    (void)::send(client, bytes_out.data(), bytes_out.size(), MSG_NOSIGNAL);
    return bytes_out.find("Connection: close") == std::string::npos;
  }

  std::string reply(Heard heard) {
    const std::lock_guard lock(mutex_);
    heard_.push_back(heard);
    const auto it = answers_.find(heard.method + " " + heard.target);
    if (it == answers_.end()) return "HTTP/1.1 404 Not Found\r\nContent-Length: 21\r\n\r\n{\"error\":\"Not Found\"}";
    std::string bytes = it->second.front();
    if (it->second.size() > 1) it->second.erase(it->second.begin());
    return bytes;
  }

  int listener_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<std::string>> answers_;
  std::vector<Heard> heard_;
  std::thread thread_;
};

}  // namespace sluice::test
