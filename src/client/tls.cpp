#include "client/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>
#include <utility>

#include "base/text.h"

namespace sluice::client {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Result<ssl::context> trust(const ServerAddress& server) {
  ssl::context out(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(out.native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(out.native_handle(), SSL_OP_IGNORE_UNEXPECTED_EOF);  // HTTP says how long an answer is
  error_code failed;
  if (server.ca.empty()) {
    out.set_default_verify_paths(failed);
  } else {
    out.load_verify_file(server.ca, failed);
  }
  if (failed) {
    return Error{ErrorCode::invalid, str("--ca '", server.ca, "' cannot be used: ", failed.message(),
                                         "; it is a PEM file of certificates")};
  }
  out.set_verify_mode(ssl::verify_peer);
  return out;
}

Status expect(const ServerAddress& server, SSL& connection) {
  error_code not_an_address;
  (void)boost::asio::ip::make_address(server.host, not_an_address);
  X509_VERIFY_PARAM* wanted = SSL_get0_param(&connection);
  const bool set = not_an_address ? SSL_set1_host(&connection, server.host.c_str()) == 1 &&
                                        SSL_set_tlsext_host_name(&connection, server.host.c_str()) == 1
                                  : X509_VERIFY_PARAM_set1_ip_asc(wanted, server.host.c_str()) == 1;
  if (set) return Done{};
  return Error{ErrorCode::invalid, str("'", server.host, "' is no name that a certificate could have")};
}

Error not_secure(const ServerAddress& server, SSL& connection, const std::string& reason) {
  const auto refused = [&](std::string_view why, std::string_view help) {
    return Error{ErrorCode::unavailable, str("the certificate of ", server.text(), " ", why, help)};
  };
  const long verified = SSL_get_verify_result(&connection);
  switch (verified) {
    case X509_V_OK:
      break;
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return refused(str("is not for '", server.host, "'"), ": write the name in --server that it is for");
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return refused("has expired", ": the server needs a new one");
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return refused("is not valid yet", ": is the clock of this machine right?");
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return refused("is signed by nobody that is trusted here", ": name who signed it with --ca FILE");
    default:
      return refused(str("is not trusted: ", X509_verify_cert_error_string(verified)), "");
  }
  return {ErrorCode::unavailable, str("no TLS with ", server.text(), " (", reason,
                                      "): does it speak TLS? Without, write --server ", server.host_and_port())};
}

}  // namespace sluice::client
