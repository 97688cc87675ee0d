// What a handler gets and gives: one HTTP request, and the exchange through which it is answered, now or later.
// The server (http_server.h) makes both; the router (router.h) is the handler. Nothing here knows how HTTP is spoken.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "domain/principal.h"

namespace sluice::gateway {

enum class Method : std::uint8_t { get, post, remove, other };  // remove: DELETE

// Bytes after the body that may be read: what simdjson wants.
inline constexpr std::size_t kBodyPadding = 64;

// Views are of the connection's buffers: they end with the answer, or when handle() returns.
struct Request {
  Method method = Method::get;
  std::string_view path, query;                // of the target, without '?'; as sent
  std::string_view body;                       // unpacked; kBodyPadding bytes after it may be read
  std::optional<std::string_view> json_bytes;  // the header Inference-Header-Content-Length
  Principal principal{};                       // what admit() said
};

// The head of a request, as far as it decides who may come in. Empty: not sent.
struct Knock {
  Method method = Method::get;
  std::string_view path;
  std::string_view key, host, origin;
  bool local = false;    // the server listens on a loopback address
  bool trusted = false;  // it came through the Unix socket, which only the server's own user can open
};

enum class ContentType : std::uint8_t { json, octets, metrics };

struct Reply {
  unsigned status = 200;
  std::string body;
  ContentType type = ContentType::json;
  std::string headers;  // further ones, each ended by CRLF
  // Packed as gzip or deflate where the client accepts that. Inference alone: Triton's and KServe's clients offer gzip
  // for everything and unpack nothing else. The server takes it back once the reply is packed, or not worth it.
  bool packable = false;
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  // Answers with what `make` returns; it is called in the connection's thread. Only the first answer counts; whoever
  // lets go of an exchange without one has it answered with 500. Any thread.
  virtual void respond(std::function<Reply()> make) = 0;
  // The same for an answer that takes long to write: `make` may be called in a thread where nobody else waits for it.
  virtual void respond_at_length(std::function<Reply()> make) { respond(std::move(make)); }
  // `gone` is called once, soon, if the client hangs up before the answer. Any thread.
  virtual void on_disconnect(std::function<void()> gone) = 0;
};
using Respond = std::shared_ptr<Exchange>;

// Who asks, or the refusal.
using Admission = std::variant<Principal, Reply>;

class Handler {
 public:
  virtual ~Handler() = default;
  // Asked as soon as the head is there: the body of a request that is refused is neither kept nor asked for.
  [[nodiscard]] virtual Admission admit(const Knock& knock) = 0;
  // From any of the server's threads, several at once. Must not wait.
  virtual void handle(const Request& request, Respond respond) = 0;
};

}  // namespace sluice::gateway
