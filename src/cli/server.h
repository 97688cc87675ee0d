// The server that commands talk to: found by --server, SLUICE_SERVER or on this machine; JSON answers, refusals in
// words.
#pragma once
#include <memory>
#include <string>

#include "base/result.h"
#include "cli/live_commands.h"
#include "client/http_client.h"
#include "data/json.h"

namespace sluice::cli {

// `options.server`: what --server says; empty: SLUICE_SERVER, else the socket of the data directory, else
// 127.0.0.1:8000. The key is SLUICE_KEY; without it, and only for this machine, what is in the file `key` of the data
// directory.
[[nodiscard]] Result<std::unique_ptr<client::HttpClient>> find_server(const ServerOptions& options);

struct JsonAnswer {
  std::string text;  // as the server wrote it
  data::Json json;
};
// An error if there was no answer, it was not 2xx, or is no JSON.
[[nodiscard]] Result<JsonAnswer> ask(client::HttpClient& server, const client::HttpRequest& request);

// What a status outside of 2xx says: the server's text, its code, and when to try again.
[[nodiscard]] std::string refusal(const client::HttpResponse& response);

}  // namespace sluice::cli
