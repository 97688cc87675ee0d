// What a client of TLS checks: who signed the server's certificate, its dates and its names. Every failure says which
// of them it is and what would help.
#pragma once
#include <boost/asio/ssl/context.hpp>
#include <string>

#include "base/result.h"
#include "client/server_address.h"

namespace sluice::client {

// Trusts what `server.ca` names, else what the system trusts.
[[nodiscard]] Result<boost::asio::ssl::context> trust(const ServerAddress& server);
// The certificate has to name the server's host, a name or an address.
[[nodiscard]] Status expect(const ServerAddress& server, SSL& connection);
// Why there is no TLS; `reason`: what the library says.
[[nodiscard]] Error not_secure(const ServerAddress& server, SSL& connection, const std::string& reason);

}  // namespace sluice::client
