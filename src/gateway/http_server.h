// HttpServer: HTTP/1.1 on one address, for a handler that may answer later. It knows nothing of what is served.
// Every connection belongs to one thread; timeouts, sizes and numbers of everything a client can send are bounded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "gateway/companion.h"
#include "gateway/exchange.h"

namespace sluice::gateway {

class TlsCertificates;

struct ServerOptions {
  std::string listen = "127.0.0.1:8000";  // host:port, port 0: any that is free
  std::string socket{};  // also on this Unix socket, for the server's own user, who is an admin there; empty: not
  std::shared_ptr<TlsCertificates> tls{};  // on `listen`; null: plain HTTP
  unsigned threads = 1;
  std::size_t connections_max = 0;  // 0: 10,000, or fewer if the process may not open so many files
  std::size_t head_bytes_max = 16u << 10;
  std::size_t body_bytes_max = 256u << 20;       // of one request, unpacked
  std::size_t bodies_bytes_max = 1024u << 20;    // of all requests that are being received
  Duration handshake_timeout = Duration::s(10);  // of TLS
  Duration head_timeout = Duration::s(10);       // from the first byte to the end of the head
  Duration body_timeout = Duration::s(10);       // in which a body, or the client's taking of a reply, must move on
  Duration idle_timeout = Duration::s(75);
};

class HttpServer {
 public:
  // Listens and serves from now on. `handler` and `companion` must live until the server is gone.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(ServerOptions options, Handler& handler,
                                                                 Companion companion = {});
  virtual ~HttpServer() = default;  // stops at once if it was not stopped

  [[nodiscard]] virtual std::string address() const = 0;  // with the port it really has
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  [[nodiscard]] virtual std::size_t connections() const = 0;
  [[nodiscard]] virtual std::size_t body_bytes() const = 0;  // of requests being received
  // Accepts nobody any more, lets requests that have begun finish for at most `grace`, then closes. Waits for that.
  virtual void stop(Duration grace) = 0;
};

}  // namespace sluice::gateway
