// A blocking HTTP/1.1 client for the commands that talk to a server, on Boost.Beast: one connection that is kept, over
// TCP or a Unix socket, a time limit on each exchange, and limits on the answer (64 KiB of headers, 1 GiB of body).
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "client/server_address.h"

namespace sluice::client {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, encoded
  HttpHeaders headers{};     // besides Host, Content-Length and the key
  std::string body{};
  Duration timeout = Duration::s(30);  // of the whole exchange
};

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;  // names in lower case
  std::string body;
  [[nodiscard]] bool ok() const { return status >= 200 && status < 300; }
  // Null: it has none.
  [[nodiscard]] const std::string* header(std::string_view name) const;
};

class HttpClient {
 public:
  // `key`: for `Authorization: Bearer`; empty: none.
  HttpClient(ServerAddress server, std::string key);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Any status is an answer; an error means that there was none, and says what would help.
  [[nodiscard]] Result<HttpResponse> send(const HttpRequest& request);
  [[nodiscard]] const ServerAddress& server() const { return server_; }

 private:
  class Connection;

  ServerAddress server_;
  std::string key_;
  std::unique_ptr<Connection> connection_;  // null: none is open
};

}  // namespace sluice::client
