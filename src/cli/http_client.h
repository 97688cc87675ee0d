// A small blocking HTTP/1.1 client for the commands that talk to a server: one connection that is kept, answers with
// Content-Length or in chunks, a time limit on each exchange.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "cli/http_address.h"

namespace sluice::cli {

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
  HttpClient(ServerAddress server, std::string key) : server_(std::move(server)), key_(std::move(key)) {}
  ~HttpClient() { close(); }
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // Any status is an answer; an error means that there was none, and says what would help.
  [[nodiscard]] Result<HttpResponse> send(const HttpRequest& request);
  [[nodiscard]] const ServerAddress& server() const { return server_; }

 private:
  [[nodiscard]] Status connect(Time until);
  [[nodiscard]] Status write(std::string_view bytes, Time until);
  [[nodiscard]] Status read_more(Time until);  // at least one byte
  [[nodiscard]] Result<std::string> read_line(Time until);
  [[nodiscard]] Status read_exactly(std::size_t bytes, std::string& out, Time until);
  [[nodiscard]] Result<HttpResponse> read_head(Time until);
  [[nodiscard]] Status read_body(HttpResponse& response, Time until);
  [[nodiscard]] Status read_chunks(std::string& out, Time until);
  [[nodiscard]] Status read_to_end(std::string& out, Time until);
  [[nodiscard]] Error silent() const;
  [[nodiscard]] Error broken(std::string_view what) const;
  void close();

  ServerAddress server_;
  std::string key_;
  int socket_ = -1;
  std::string buffer_;  // read and not yet taken
};

}  // namespace sluice::cli
