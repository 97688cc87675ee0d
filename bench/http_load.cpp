// Load on an HTTP server from one thread: closed loop (every connection asks again as soon as it is answered) or open
// loop (requests leave at a rate, whatever the answers do; latency counts from when a request was due). Plain sockets
// and epoll, so that the generator costs little beside the server. Prints rate, CPU time and percentiles.
//   http_load --port P [--target T] [--body FILE | --json TEXT] [--connections C] [--seconds S] [--rate R] [--pid PID]
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string host = "127.0.0.1", target = "/v2/health/live", body, headers;
  std::uint16_t port = 8000;
  int connections = 64;
  double seconds = 5, warmup = 0.5, rate = 0;  // rate 0: closed loop
  int pid = 0;                                 // of the server, for its CPU time
};

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// User and system seconds of a process; 0 if it cannot be read.
double cpu_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t at = text.rfind(')');
  if (at == std::string::npos) return 0;
  unsigned long user = 0, system = 0;
  const char* fields = text.c_str() + at + 2;
  if (std::sscanf(fields, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) return 0;
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_cpu() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Connection {
  int socket = -1;
  std::string in;
  std::deque<Clock::time_point> due;  // of requests that are under way
};

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

class Load {
 public:
  explicit Load(const Options& options) : options_(options), epoll_(epoll_create1(0)) {
    request_ = (options.body.empty() ? "GET " : "POST ") + options.target + " HTTP/1.1\r\nHost: " + options.host +
               "\r\n" + options.headers + "Content-Length: " + std::to_string(options.body.size()) + "\r\n\r\n" +
               options.body;
    connections_.resize(static_cast<std::size_t>(options.connections));
  }

  bool connect() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(options_.port);
    inet_pton(AF_INET, options_.host.c_str(), &address.sin_addr);
    for (std::size_t i = 0; i < connections_.size(); ++i) {
      const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
      const int on = 1;
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return false;
      epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
      epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
      connections_[i].socket = fd;
    }
    return true;
  }

  int run() {
    const auto start = Clock::now();
    const auto measured_from =
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.warmup));
    const auto end =
        measured_from + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    if (options_.rate == 0) {
      for (Connection& connection : connections_) ask(connection, start);
    }
    next_due_ = start;
    double server_cpu = 0, client_cpu = 0;
    bool measuring = false;
    for (auto now = start; now < end; now = Clock::now()) {
      if (!measuring && now >= measured_from) {
        measuring = true;
        server_cpu = cpu_of(options_.pid);
        client_cpu = own_cpu();
        latencies_us_.clear();
        errors_ = 0;
      }
      if (options_.rate > 0) ask_what_is_due(now);
      if (!wait(now)) return 1;
    }
    report(seconds_between(measured_from, Clock::now()), cpu_of(options_.pid) - server_cpu, own_cpu() - client_cpu);
    return 0;
  }

 private:
  void ask(Connection& connection, Clock::time_point due) {
    connection.due.push_back(due);
    std::string_view left = request_;
    while (!left.empty()) {
      const ssize_t sent = ::send(connection.socket, left.data(), left.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  void ask_what_is_due(Clock::time_point now) {
    const auto gap = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / options_.rate));
    for (; next_due_ <= now; next_due_ += gap) ask(connections_[turn_++ % connections_.size()], next_due_);
  }

  bool wait(Clock::time_point now) {
    std::array<epoll_event, 256> events{};
    const bool open = options_.rate > 0;
    const auto until = std::chrono::duration_cast<std::chrono::milliseconds>(next_due_ - now).count();
    const int timeout = open ? static_cast<int>(std::clamp<std::int64_t>(until, 0, 10)) : 10;
    const int ready = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timeout);
    for (int i = 0; i < ready; ++i) {
      if (!take(connections_[events[static_cast<std::size_t>(i)].data.u64])) return false;
    }
    return true;
  }

  bool take(Connection& connection) {
    std::array<char, 65536> buffer;
    const ssize_t bytes = ::recv(connection.socket, buffer.data(), buffer.size(), 0);
    if (bytes <= 0) {
      std::fprintf(stderr, "the server hung up\n");
      return false;
    }
    connection.in.append(buffer.data(), static_cast<std::size_t>(bytes));
    int status = 0;
    while (const std::size_t size = answer_size(connection.in, status)) {
      connection.in.erase(0, size);
      const auto now = Clock::now();
      latencies_us_.push_back(static_cast<float>(seconds_between(connection.due.front(), now) * 1e6));
      connection.due.pop_front();
      errors_ += status == 200 || status == 202 ? 0 : 1;
      if (options_.rate == 0) ask(connection, now);
    }
    return true;
  }

  void report(double seconds, double server_cpu, double client_cpu) {
    std::sort(latencies_us_.begin(), latencies_us_.end());
    const auto at = [&](double quantile) {
      if (latencies_us_.empty()) return 0.0;
      const auto index = static_cast<std::size_t>(quantile * static_cast<double>(latencies_us_.size() - 1));
      return static_cast<double>(latencies_us_[index]);
    };
    const auto count = static_cast<double>(latencies_us_.size());
    std::printf("requests %.0f  errors %llu  rate %.0f/s", count, static_cast<unsigned long long>(errors_),
                count / seconds);
    if (server_cpu > 0)
      std::printf("  server CPU %.2f s  requests per server-CPU-second %.0f", server_cpu, count / server_cpu);
    std::printf("  client CPU %.2f s\nlatency us  p50 %.0f  p90 %.0f  p99 %.0f  p99.9 %.0f  max %.0f\n", client_cpu,
                at(0.5), at(0.9), at(0.99), at(0.999), at(1));
  }

  Options options_;
  int epoll_;
  std::string request_;
  std::vector<Connection> connections_;
  std::vector<float> latencies_us_;
  std::uint64_t errors_ = 0;
  Clock::time_point next_due_;
  std::size_t turn_ = 0;
};

std::string file_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const char* value = argv[i + 1];
    if (name == "--host")
      options.host = value;
    else if (name == "--port")
      options.port = static_cast<std::uint16_t>(std::atoi(value));
    else if (name == "--target")
      options.target = value;
    else if (name == "--body")
      options.body = file_text(value);
    else if (name == "--json")
      options.body = value;
    else if (name == "--header")
      options.headers += std::string(value) + "\r\n";
    else if (name == "--connections")
      options.connections = std::max(1, std::atoi(value));
    else if (name == "--seconds")
      options.seconds = std::atof(value);
    else if (name == "--warmup")
      options.warmup = std::atof(value);
    else if (name == "--rate")
      options.rate = std::atof(value);
    else if (name == "--pid")
      options.pid = std::atoi(value);
    else
      return false;
  }
  return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: http_load --port P [--host H] [--target T] [--body FILE | --json TEXT] [--header 'K: V']\n"
                 "       [--connections C] [--seconds S] [--warmup S] [--rate R (open loop)] [--pid PID]\n");
    return 2;
  }
  Load load(options);
  if (!load.connect()) {
    std::fprintf(stderr, "cannot connect to %s:%d\n", options.host.c_str(), options.port);
    return 1;
  }
  return load.run();
}
