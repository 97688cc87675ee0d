#include "bench/load_loop.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace sluice::bench {
namespace {

constexpr auto kLongestWait = std::chrono::milliseconds(10);

double seconds_between(std::chrono::steady_clock::time_point from, std::chrono::steady_clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

std::chrono::steady_clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

// The bytes of the first answer in `in`, 0: not whole yet.
std::size_t answer_size(const std::string& in, int& status) {
  const std::size_t end = in.find("\r\n\r\n");
  if (end == std::string::npos) return 0;
  std::from_chars(in.data() + 9, in.data() + 12, status);
  std::size_t length = 0;
  if (const std::size_t at = in.find("Content-Length: "); at < end) {
    std::from_chars(in.data() + at + 16, in.data() + end, length);
  }
  return in.size() >= end + 4 + length ? end + 4 + length : 0;
}

}  // namespace

LoadLoop::LoadLoop(const LoadOptions& options)
    : options_(options), epoll_(epoll_create1(0)), figures_(options.slo_ms * 1000) {
  ::prctl(PR_SET_TIMERSLACK, 1);  // requests leave when they are due, not 50 us later
  request_ = (options.body.empty() ? "GET " : "POST ") + options.target + " HTTP/1.1\r\nHost: " + options.host +
             "\r\n" + options.headers + "Content-Length: " + std::to_string(options.body.size()) + "\r\n\r\n" +
             options.body;
}

LoadLoop::~LoadLoop() {
  for (const Connection& connection : connections_) ::close(connection.socket);
  ::close(epoll_);
}

bool LoadLoop::open_one() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options_.port);
  inet_pton(AF_INET, options_.host.c_str(), &address.sin_addr);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("cannot connect");
    ::close(fd);
    return false;
  }
  epoll_event event{.events = EPOLLIN, .data = {.u64 = connections_.size()}};
  epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  idle_.push_back(connections_.size());
  connections_.push_back({.socket = fd});
  return true;
}

bool LoadLoop::run() {
  while (connections_.size() < options_.connections) {
    if (!open_one()) return false;
  }
  const auto start = Clock::now();
  from_ = start + duration_of(options_.warmup);
  end_ = from_ + duration_of(options_.seconds);
  next_due_ = start;
  if (options_.rate == 0) {
    idle_.clear();
    for (std::size_t i = 0; i < connections_.size(); ++i) ask(i, start);
  }
  std::vector<double> server;
  double client = 0;
  for (auto now = start; now < end_; now = Clock::now()) {
    if (server.empty() && now >= from_) {
      server = server_cpu();
      client = own_cpu_seconds();
    }
    if (options_.rate > 0 && !ask_what_is_due(now)) return false;
    if (!wait(now, options_.rate > 0 ? std::min(next_due_, end_) : end_)) return false;
  }
  const double seconds = options_.rate > 0 ? options_.seconds : seconds_between(from_, Clock::now());
  std::vector<double> used = server_cpu();
  for (std::size_t i = 0; i < used.size() && i < server.size(); ++i) used[i] -= server[i];
  client = own_cpu_seconds() - client;
  const auto patience = Clock::now() + duration_of(options_.drain);
  for (auto now = Clock::now(); options_.rate > 0 && answered_ < asked_ && now < patience; now = Clock::now()) {
    if (!wait(now, patience)) return false;
  }
  const LoadFigures::Run run{seconds, std::move(used), client, connections_.size(),
                             options_.rate > 0 ? asked_ - answered_ : 0};
  std::puts((options_.json ? figures_.json(run) : figures_.text(run)).c_str());
  return true;
}

std::vector<double> LoadLoop::server_cpu() const {
  std::vector<double> out;
  for (const int pid : options_.pids) out.push_back(cpu_seconds_of(pid));
  return out;
}

void LoadLoop::ask(std::size_t index, Clock::time_point due) {
  Connection& connection = connections_[index];
  connection.due = due;
  connection.unsent = request_.size();
  send(connection);
}

// What does not fit the socket is sent when there is room again.
void LoadLoop::send(Connection& connection) {
  while (connection.unsent > 0) {
    const std::string_view left = std::string_view(request_).substr(request_.size() - connection.unsent);
    const ssize_t sent = ::send(connection.socket, left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) connection.unsent -= static_cast<std::size_t>(sent);
    if (sent <= 0 && errno != EINTR) break;
  }
  if (connection.unsent == 0 && request_.size() <= 65536) return;  // small ones never wait
  const auto index = static_cast<std::uint64_t>(&connection - connections_.data());
  const std::uint32_t wanted = connection.unsent > 0 ? EPOLLIN | EPOLLOUT : EPOLLIN;
  epoll_event event{.events = wanted, .data = {.u64 = index}};
  epoll_ctl(epoll_, EPOLL_CTL_MOD, connection.socket, &event);
}

bool LoadLoop::ask_what_is_due(Clock::time_point now) {
  std::exponential_distribution<double> gap(options_.rate);
  for (; next_due_ <= now; next_due_ += duration_of(options_.poisson ? gap(draws_) : 1 / options_.rate)) {
    if (next_due_ >= from_ && next_due_ < end_) ++asked_;
    if (idle_.empty() && connections_.size() < options_.connections_max && !open_one()) return false;
    if (idle_.empty()) {
      waiting_.push_back(next_due_);
      continue;
    }
    const std::size_t connection = idle_.back();
    idle_.pop_back();
    ask(connection, next_due_);
  }
  return true;
}

bool LoadLoop::wait(Clock::time_point now, Clock::time_point until) {
  std::array<epoll_event, 256> events{};
  const auto left = std::clamp<Clock::duration>(until - now, Clock::duration::zero(), kLongestWait);
  const timespec timeout{.tv_sec = 0, .tv_nsec = std::chrono::nanoseconds(left).count()};
  const int ready = epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    if ((event.events & EPOLLOUT) != 0) send(connections_[event.data.u64]);
    if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0 && !take(event.data.u64)) return false;
  }
  return true;
}

bool LoadLoop::take(std::size_t index) {
  std::array<char, 65536> buffer;
  Connection& connection = connections_[index];
  const ssize_t bytes = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
  if (bytes <= 0) {
    std::fprintf(stderr, "the server hung up\n");
    return false;
  }
  connection.in.append(buffer.data(), static_cast<std::size_t>(bytes));
  int status = 0;
  const std::size_t size = answer_size(connection.in, status);
  if (size == 0) return true;
  connection.in.erase(0, size);
  const auto now = Clock::now();
  note(status, connection.due, now);
  now_idle(index, now);
  return true;
}

// Open loop: what was due within the time counts, whenever it is answered; closed loop: what was answered within it.
void LoadLoop::note(int status, Clock::time_point due, Clock::time_point now) {
  const auto counts = options_.rate > 0 ? due : now;
  if (counts < from_ || counts >= end_) return;
  figures_.answered(status, seconds_between(due, now) * 1e6);
  ++answered_;
}

void LoadLoop::now_idle(std::size_t index, Clock::time_point now) {
  if (options_.rate == 0) return ask(index, now);
  if (waiting_.empty()) return idle_.push_back(index);
  const auto due = waiting_.front();
  waiting_.pop_front();
  ask(index, due);
}

}  // namespace sluice::bench
