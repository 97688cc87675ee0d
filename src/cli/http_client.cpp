#include "cli/http_client.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "data/clock.h"

namespace sluice::cli {
namespace {

constexpr std::size_t kLineMax = 64u << 10;
constexpr std::size_t kHeadersMax = 256;
constexpr std::size_t kBodyMax = std::size_t{1} << 30;

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return out;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::string head_of(const HttpRequest& request, const ServerAddress& server, const std::string& key) {
  std::string out = str(request.method, " ", request.target, " HTTP/1.1\r\nHost: ", server.text(), "\r\n");
  if (!key.empty()) out += str("Authorization: Bearer ", key, "\r\n");
  for (const auto& [name, value] : request.headers) out += str(name, ": ", value, "\r\n");
  if (!request.body.empty() || request.method == "POST") out += str("Content-Length: ", request.body.size(), "\r\n");
  return out + "\r\n";
}

// True if the descriptor is ready in time.
bool wait_for(int descriptor, short events, Time until) {
  for (;;) {
    const auto left = static_cast<std::int64_t>((until - data::now()).to_ms());
    if (left < 0) return false;
    pollfd waited{descriptor, events, 0};
    const int ready = ::poll(&waited, 1, static_cast<int>(std::min<std::int64_t>(left + 1, 3'600'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

// 0: connected, else the errno.
int connect_to(int descriptor, const addrinfo& address, Time until) {
  if (::connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(descriptor, POLLOUT, until)) return ETIMEDOUT;
  int failed = 0;
  socklen_t size = sizeof failed;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &failed, &size);
  return failed;
}

}  // namespace

const std::string* HttpResponse::header(std::string_view name) const {
  const auto it = std::find_if(headers.begin(), headers.end(), [&](const auto& h) { return h.first == name; });
  return it == headers.end() ? nullptr : &it->second;
}

void HttpClient::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  buffer_.clear();
}

Error HttpClient::silent() const {
  return {ErrorCode::unavailable, str(server_.text(), " did not answer in time")};
}

Error HttpClient::broken(std::string_view what) const {
  return {ErrorCode::unavailable, str("the answer of ", server_.text(), " is broken: ", what)};
}

Status HttpClient::connect(Time until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int failed = ::getaddrinfo(server_.host.c_str(), server_.port.c_str(), &hints, &found); failed != 0)
    return Error{ErrorCode::unavailable, str("no address for '", server_.host, "': ", ::gai_strerror(failed))};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, &::freeaddrinfo);
  int failed = ECONNREFUSED;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    const int made = ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol);
    failed = made < 0 ? errno : connect_to(made, *address, until);
    if (failed == 0) {
      socket_ = made;
      const int yes = 1;
      ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      return Done{};
    }
    if (made >= 0) ::close(made);
  }
  const std::string why = failed == ECONNREFUSED ? "" : str(" (", std::strerror(failed), ")");
  return Error{ErrorCode::unavailable, str("no server at ", server_.text(), why,
                                           ": start one with `sluice up`, or name another with --server")};
}

Status HttpClient::write(std::string_view bytes, Time until) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket_, POLLOUT, until)) return silent();
    } else if (errno != EINTR) {
      return Error{ErrorCode::io,
                   str(server_.text(), " closed the connection while the request was sent: ", std::strerror(errno))};
    }
  }
  return Done{};
}

Status HttpClient::read_more(Time until) {
  std::array<char, 64u << 10> part;
  for (;;) {
    const ssize_t got = ::recv(socket_, part.data(), part.size(), 0);
    if (got > 0) {
      buffer_.append(part.data(), static_cast<std::size_t>(got));
      return Done{};
    }
    if (got == 0) return Error{ErrorCode::io, str(server_.text(), " closed the connection without a whole answer")};
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket_, POLLIN, until)) return silent();
    } else if (errno != EINTR) {
      return Error{ErrorCode::unavailable,
                   str("the connection to ", server_.text(), " failed: ", std::strerror(errno))};
    }
  }
}

Result<std::string> HttpClient::read_line(Time until) {
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n")) == std::string::npos) {
    if (buffer_.size() > kLineMax) return broken("a line of more than 64 KiB");
    if (const Status more = read_more(until); !more) return more.error();
  }
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 2);
  return line;
}

Status HttpClient::read_exactly(std::size_t bytes, std::string& out, Time until) {
  if (bytes > kBodyMax - out.size()) return broken("a body of more than 1 GiB");
  while (bytes > 0) {
    if (buffer_.empty()) {
      if (const Status more = read_more(until); !more) return more;
    }
    const std::size_t part = std::min(bytes, buffer_.size());
    out.append(buffer_, 0, part);
    buffer_.erase(0, part);
    bytes -= part;
  }
  return Done{};
}

Result<HttpResponse> HttpClient::read_head(Time until) {
  const auto first = read_line(until);
  if (!first) return first.error();
  HttpResponse out;
  const std::string_view line = *first;
  const auto status = line.starts_with("HTTP/1.") && line.size() >= 12 ? parse_int(line.substr(9, 3)) : std::nullopt;
  if (!status) return broken(str("'", printable(line), "' is no HTTP; is this a Sluice server?"));
  out.status = static_cast<int>(*status);
  for (;;) {
    const auto header = read_line(until);
    if (!header) return header.error();
    if (header->empty()) return out;
    const std::size_t colon = header->find(':');
    if (colon == std::string::npos || out.headers.size() >= kHeadersMax) return broken("its headers");
    out.headers.emplace_back(lower(header->substr(0, colon)),
                             std::string(trimmed(std::string_view(*header).substr(colon + 1))));
  }
}

Status HttpClient::read_chunks(std::string& out, Time until) {
  for (;;) {
    const auto line = read_line(until);
    if (!line) return line.error();
    std::size_t size = 0;
    const auto parsed = std::from_chars(line->data(), line->data() + line->size(), size, 16);
    if (parsed.ec != std::errc() || parsed.ptr == line->data()) return broken("the length of a chunk");
    if (size == 0) break;
    if (const Status read = read_exactly(size, out, until); !read) return read;
    const auto end = read_line(until);
    if (!end) return end.error();
    if (!end->empty()) return broken("the end of a chunk");
  }
  for (;;) {  // trailers
    const auto line = read_line(until);
    if (!line) return line.error();
    if (line->empty()) return Done{};
  }
}

Status HttpClient::read_to_end(std::string& out, Time until) {
  for (;;) {
    out += buffer_;
    buffer_.clear();
    if (out.size() > kBodyMax) return broken("a body of more than 1 GiB");
    const Status more = read_more(until);
    if (!more) return more.error().code == ErrorCode::io ? Status(Done{}) : more;
  }
}

Status HttpClient::read_body(HttpResponse& response, Time until) {
  if (response.status == 204 || response.status == 304) return Done{};
  const std::string* coding = response.header("transfer-encoding");
  if (coding != nullptr && lower(*coding) == "chunked") return read_chunks(response.body, until);
  const std::string* length = response.header("content-length");
  if (length == nullptr) return read_to_end(response.body, until);
  const auto bytes = parse_int(*length);
  if (!bytes || *bytes < 0) return broken("its Content-Length");
  return read_exactly(static_cast<std::size_t>(*bytes), response.body, until);
}

Result<HttpResponse> HttpClient::send(const HttpRequest& request) {
  const Time until = data::now() + request.timeout;
  if (socket_ < 0) {
    if (const Status connected = connect(until); !connected) return connected.error();
  }
  Status written = write(head_of(request, server_, key_), until);
  if (written) written = write(request.body, until);
  // A server that refuses a body answers before it has read it, then closes.
  if (!written && written.error().code != ErrorCode::io) {
    close();
    return written.error();
  }
  auto response = read_head(until);
  while (response && response->status >= 100 && response->status < 200) response = read_head(until);
  const Status body = response ? read_body(*response, until) : Status(response.error());
  const std::string* connection = response ? response->header("connection") : nullptr;
  const bool delimited = response && (response->header("content-length") != nullptr ||
                                      response->header("transfer-encoding") != nullptr || response->status == 204);
  if (!body || !delimited || !written || (connection != nullptr && lower(*connection) == "close")) close();
  if (!body) return written ? body.error() : written.error();
  return response;
}

}  // namespace sluice::cli
