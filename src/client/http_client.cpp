#include "client/http_client.h"

#include <fcntl.h>
#include <sys/un.h>

#include <algorithm>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <cctype>
#include <chrono>
#include <optional>

#include "base/text.h"
#include "client/tls.h"
#include "data/clock.h"

namespace sluice::client {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;

using Failure = beast::error_code;
// Of any family, so that a Unix socket is a connection like any other.
using Stream = beast::basic_stream<asio::generic::stream_protocol>;
using Endpoint = asio::generic::stream_protocol::endpoint;
using Parser = http::response_parser<http::string_body>;

constexpr std::uint32_t kHeadMax = 64u << 10;
constexpr std::uint64_t kBodyMax = std::uint64_t{1} << 30;

Error silent(const ServerAddress& server) {
  return {ErrorCode::unavailable, str(server.text(), " did not answer in time")};
}

Error no_server(const ServerAddress& server, const Failure& failure) {
  const bool refused = failure == asio::error::connection_refused;
  const Failure why = failure == beast::error::timeout ? Failure(asio::error::timed_out) : failure;
  return {ErrorCode::unavailable,
          str("no server at ", server.text(), refused ? "" : str(" (", why.message(), ")"),
              ": start one with `sluice up`, or name another with --server or SLUICE_DATA, its data directory")};
}

// Why there is no answer, for people.
Error unanswered(const ServerAddress& server, const Failure& failure) {
  const auto broken = [&](std::string_view what) {
    return Error{ErrorCode::unavailable, str("the answer of ", server.text(), " is broken: ", what)};
  };
  if (failure == beast::error::timeout) return silent(server);
  if (failure == http::error::end_of_stream || failure == http::error::partial_message || failure == asio::error::eof ||
      failure == asio::error::connection_reset) {
    return {ErrorCode::io, str(server.text(), " closed the connection without a whole answer")};
  }
  if (failure == http::error::body_limit) return broken("a body of more than 1 GiB");
  if (failure == http::error::header_limit) return broken("headers of more than 64 KiB");
  if (failure == http::error::bad_version) return broken("it is no HTTP; is this a Sluice server?");
  if (failure.category() == http::make_error_code(http::error::bad_version).category())
    return broken(failure.message());
  return {ErrorCode::unavailable, str("the connection to ", server.text(), " failed: ", failure.message())};
}

Result<std::vector<Endpoint>> endpoints_of(const ServerAddress& server, asio::io_context& context) {
  std::vector<Endpoint> out;
  if (!server.path.empty()) {
    if (server.path.size() >= sizeof(sockaddr_un::sun_path)) {
      return Error{ErrorCode::invalid, str("the path of a Unix socket has at most ", sizeof(sockaddr_un::sun_path) - 1,
                                           " bytes, '", server.path, "' has ", server.path.size())};
    }
    out.emplace_back(asio::local::stream_protocol::endpoint(server.path));
    return out;
  }
  Failure failure;
  for (const auto& found : asio::ip::tcp::resolver(context).resolve(server.host, server.port, failure))
    out.emplace_back(found.endpoint());
  if (failure) return Error{ErrorCode::unavailable, str("no address for '", server.host, "': ", failure.message())};
  return out;
}

http::request<http::span_body<const char>> message_of(const HttpRequest& request, const ServerAddress& server,
                                                      const std::string& key) {
  http::request<http::span_body<const char>> out;
  out.version(11);
  out.method_string(request.method);
  out.target(request.target);
  out.set(http::field::host, server.path.empty() ? server.host_and_port() : "localhost");
  if (!key.empty()) out.set(http::field::authorization, str("Bearer ", key));
  for (const auto& [name, value] : request.headers) out.insert(name, value);
  if (!request.body.empty() || request.method == "POST") out.content_length(request.body.size());
  out.body() = {request.body.data(), request.body.size()};
  return out;
}

HttpResponse response_of(Parser& parser) {
  HttpResponse out{.status = static_cast<int>(parser.get().result_int()), .headers = {}, .body = {}};
  for (const auto& field : parser.get()) {
    std::string name(field.name_string());
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    out.headers.emplace_back(std::move(name), std::string(field.value()));
  }
  out.body = std::move(parser.get().body());
  return out;
}

}  // namespace

const std::string* HttpResponse::header(std::string_view name) const {
  const auto it = std::find_if(headers.begin(), headers.end(), [&](const auto& h) { return h.first == name; });
  return it == headers.end() ? nullptr : &it->second;
}

// Beast has time limits on asynchronous operations only: each is begun and then waited for.
class HttpClient::Connection {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Connection>> open(const ServerAddress& server, Time until) {
    auto out = std::make_unique<Connection>();
    const auto endpoints = endpoints_of(server, out->context_);
    if (!endpoints) return endpoints.error();
    Failure failure = asio::error::connection_refused;
    for (const Endpoint& endpoint : *endpoints) {
      out->stream_.emplace(out->context_);
      failure = out->wait(until, [&](auto done) { out->stream_->async_connect(endpoint, done); });
      if (failure) continue;
      const int descriptor = out->stream_->socket().native_handle();
      ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
      Failure ignored;  // a Unix socket has no such option
      out->stream_->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
      if (!server.tls) return out;
      const Status secure = out->shake_hands(server, until);
      if (!secure) return secure.error();
      return out;
    }
    return no_server(server, failure);
  }

  [[nodiscard]] Failure write(http::request<http::span_body<const char>>& message, Time until) {
    http::request_serializer<http::span_body<const char>> serializer(message);
    const auto over = [](auto done) { return [done](const Failure& failure, std::size_t) { done(failure); }; };
    return wait(until, [&](auto done) {
      tls_ ? http::async_write(*tls_, serializer, over(done)) : http::async_write(*stream_, serializer, over(done));
    });
  }

  // The first answer that is not an interim one.
  [[nodiscard]] Failure read(std::optional<Parser>& parser, Time until) {
    for (;;) {
      parser.emplace();
      parser->header_limit(kHeadMax);
      parser->body_limit(kBodyMax);
      const Failure failure = wait(until, [&](auto done) {
        const auto over = [done](const Failure& f, std::size_t) { done(f); };
        tls_ ? http::async_read(*tls_, buffer_, *parser, over) : http::async_read(*stream_, buffer_, *parser, over);
      });
      if (failure || parser->get().result_int() >= 200) return failure;
    }
  }

 private:
  // Runs what `begin` begins until it calls what it is given.
  template <class Begin>
  [[nodiscard]] Failure wait(Time until, const Begin& begin) {
    Failure out;
    stream_->expires_after(std::chrono::nanoseconds((until - data::now()).count_ns()));
    begin([&out](const Failure& failure) { out = failure; });
    context_.restart();
    context_.run();
    return out;
  }

  [[nodiscard]] Status shake_hands(const ServerAddress& server, Time until) {
    auto trusted = trust(server);
    if (!trusted) return trusted.error();
    trust_.emplace(std::move(*trusted));
    tls_.emplace(*stream_, *trust_);
    if (const Status expected = expect(server, *tls_->native_handle()); !expected) return expected;
    const Failure failure =
        wait(until, [&](auto done) { tls_->async_handshake(asio::ssl::stream_base::client, done); });
    if (!failure) return Done{};
    if (failure == beast::error::timeout) return silent(server);
    return not_secure(server, *tls_->native_handle(), failure.message());
  }

  asio::io_context context_;
  std::optional<Stream> stream_;
  std::optional<asio::ssl::context> trust_;
  std::optional<asio::ssl::stream<Stream&>> tls_;  // over stream_; none: no TLS
  beast::flat_buffer buffer_;                      // read and not yet taken
};

HttpClient::HttpClient(ServerAddress server, std::string key) : server_(std::move(server)), key_(std::move(key)) {}
HttpClient::~HttpClient() = default;

Result<HttpResponse> HttpClient::send(const HttpRequest& request) {
  const Time until = data::now() + request.timeout;
  // Closed again unless the whole exchange went well.
  std::unique_ptr<Connection> connection = std::move(connection_);
  if (!connection) {
    auto opened = Connection::open(server_, until);
    if (!opened) return opened.error();
    connection = std::move(*opened);
  }
  auto message = message_of(request, server_, key_);
  const Failure written = connection->write(message, until);
  if (written == beast::error::timeout) return silent(server_);
  // A server that refuses a body answers before it has read it, then closes.
  std::optional<Parser> parser;
  const Failure read = connection->read(parser, until);
  if (read && written) {
    return Error{ErrorCode::io,
                 str(server_.text(), " closed the connection while the request was sent: ", written.message())};
  }
  if (read) return unanswered(server_, read);
  if (!written && parser->keep_alive()) connection_ = std::move(connection);
  return response_of(*parser);
}

}  // namespace sluice::client
