#include "cli/server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/text.h"
#include "cli/data_directory.h"
#include "cli/json_fields.h"
#include "cli/units.h"

namespace sluice::cli {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_this_machine(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// The admin's key of a server on this machine, for who may read it. Nobody else is ever sent it.
std::string local_key(const client::ServerAddress& address) {
  std::string key;
  if (is_this_machine(address.host)) std::ifstream(data_directory("") + "/key") >> key;
  return key;
}

}  // namespace

Result<std::unique_ptr<client::HttpClient>> find_server(const ServerOptions& options) {
  const std::string text = options.server.empty() ? environment("SLUICE_SERVER") : options.server;
  client::ServerAddress address;
  const std::string socket = socket_in(data_directory(""));
  if (text.empty() && ::access(socket.c_str(), R_OK | W_OK) == 0) {
    address.path = socket;  // of a server that runs, or was killed: then TCP would not answer either
  } else if (!text.empty()) {
    auto parsed = client::parse_server(text);
    if (!parsed) return parsed.error();
    address = std::move(*parsed);
  }
  address.ca = options.ca.empty() ? environment("SLUICE_CA") : options.ca;
  std::string key = environment("SLUICE_KEY");
  if (key.empty() && address.path.empty()) key = local_key(address);
  return std::make_unique<client::HttpClient>(std::move(address), std::move(key));
}

std::string refusal(const client::HttpResponse& response) {
  const auto json = data::parse_json(response.body);
  std::string text = json ? text_at(*json, "error") : "";
  if (text.empty()) text = response.body.empty() ? "no reason given" : printable(response.body, 300);
  const std::string code = json ? text_at(*json, "code") : "";
  text +=
      code.empty() ? fmt::format(" (HTTP {})", response.status) : fmt::format(" ({}, HTTP {})", code, response.status);
  const auto stage = json ? text_at(*json, "stage") : "";
  if (!stage.empty() && text.find(fmt::format("'{}'", stage)) == std::string::npos)
    text += fmt::format("; stage '{}'", stage);
  const auto retry_ms = json ? maybe_number_at(*json, "retry_after_ms") : std::nullopt;
  const std::string* retry = response.header("retry-after");
  if (retry_ms)
    text += fmt::format("; try again in {}", ms_text(*retry_ms));
  else if (retry != nullptr)
    text += fmt::format("; try again in {} s", *retry);
  if (response.status == 401) text += "; set SLUICE_KEY to a key of the server, or SLUICE_DATA to its data directory";
  return text;
}

Result<JsonAnswer> ask(client::HttpClient& server, const client::HttpRequest& request) {
  auto response = server.send(request);
  if (!response) return response.error();
  if (!response->ok()) {
    return Error{response->status == 404 ? ErrorCode::not_found : ErrorCode::invalid, refusal(*response)};
  }
  auto json = data::parse_json(response->body);
  if (!json) {
    return Error{ErrorCode::invalid, str(server.server().text(), " answered ", request.target,
                                         " with something else than JSON: ", json.error().message)};
  }
  return JsonAnswer{std::move(response->body), std::move(*json)};
}

}  // namespace sluice::cli
