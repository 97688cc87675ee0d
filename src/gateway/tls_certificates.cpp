#include "gateway/tls_certificates.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace sluice::gateway {
namespace {

// What OpenSSL says first: what follows only says where that was noticed.
std::string reason() {
  const unsigned long first = ERR_peek_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(first)) return std::strerror(ERR_GET_REASON(first));
  const char* text = ERR_reason_error_string(first);
  if (text == nullptr) return "it is not what it should be";
  if (std::string_view(text) == "no start line") return "it has nothing in PEM form that is needed here";
  return text;
}

Error wrong(std::string_view what, const std::string& file) {
  return {ErrorCode::invalid, str("the TLS ", what, " '", file, "' cannot be used: ", reason())};
}

// A key with a password is an error, not a question on the terminal.
int no_password(char*, int, int, void*) {
  return 0;
}

// Clients that offer protocols and not this one are told so, as RFC 7301 has it; those that offer none are served.
int choose_protocol(SSL*, const unsigned char** out, unsigned char* length, const unsigned char* offered,
                    unsigned int offered_length, void*) {
  static constexpr unsigned char kOurs[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, length, kOurs, sizeof kOurs, offered, offered_length) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

Result<std::shared_ptr<SSL_CTX>> context_of(const TlsCertificates::Files& files) {
  ERR_clear_error();
  std::shared_ptr<SSL_CTX> out(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (out == nullptr) return Error{ErrorCode::unavailable, str("TLS cannot be used here: ", reason())};
  SSL_CTX_set_min_proto_version(out.get(), TLS1_2_VERSION);
  // An end without farewell is an end: HTTP says itself how long a body is. Renegotiation only serves attackers.
  SSL_CTX_set_options(out.get(),
                      SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  // Writes are tried again from wherever their bytes are then; idle connections keep no buffers.
  SSL_CTX_set_mode(out.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(out.get(), choose_protocol, nullptr);
  SSL_CTX_set_default_passwd_cb(out.get(), no_password);
  if (SSL_CTX_use_certificate_chain_file(out.get(), files.certificate.c_str()) != 1) {
    return wrong("certificate", files.certificate);
  }
  const bool key_read = SSL_CTX_use_PrivateKey_file(out.get(), files.key.c_str(), SSL_FILETYPE_PEM) == 1;
  if (!key_read && ERR_GET_LIB(ERR_peek_error()) != ERR_LIB_X509) return wrong("key", files.key);
  if (!key_read || SSL_CTX_check_private_key(out.get()) != 1) {
    ERR_clear_error();
    return Error{ErrorCode::invalid,
                 str("the TLS key '", files.key, "' is not that of the certificate '", files.certificate, "'")};
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<TlsCertificates>> TlsCertificates::open(Files files, OnRemark remark) {
  std::shared_ptr<TlsCertificates> out(new TlsCertificates(std::move(files), std::move(remark)));
  if (const Status read = out->read(); !read) return read.error();
  return out;
}

std::shared_ptr<SSL_CTX> TlsCertificates::context() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

std::array<TlsCertificates::Stamp, 2> TlsCertificates::stamps() const {
  std::array<Stamp, 2> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    struct stat about {};
    if (::stat((i == 0 ? files_.certificate : files_.key).c_str(), &about) != 0) continue;
    out[i] = {about.st_dev, about.st_ino, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec};
  }
  return out;
}

// The stamps are taken first: what is written while the files are read is noticed the next time.
Status TlsCertificates::read() {
  const auto seen = stamps();
  auto fresh = context_of(files_);
  if (fresh) warn_of_dates(**fresh);
  const std::lock_guard lock(mutex_);
  seen_ = seen;
  if (!fresh) return fresh.error();
  context_ = std::move(*fresh);
  return Done{};
}

void TlsCertificates::warn_of_dates(SSL_CTX& context) const {
  const X509* certificate = SSL_CTX_get0_certificate(&context);
  const bool over = X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0;
  const bool early = X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0;
  if (!over && !early) return;
  remark_({.level = Remark::Level::warning,
           .component = "tls",
           .text = str("the TLS certificate '", files_.certificate, "' ", over ? "has expired" : "is not valid yet",
                       ": clients will refuse it")});
}

void TlsCertificates::reload() {
  if (const Status done = read(); !done) {
    remark_({.level = Remark::Level::error,
             .component = "tls",
             .text = str(done.error().message, "; the certificate that was read before stays in use")});
    return;
  }
  remark_(
      {.component = "tls", .text = str("the TLS certificate '", files_.certificate, "' is read again"), .quiet = true});
}

void TlsCertificates::reload_if_changed() {
  const auto now = stamps();
  {
    const std::lock_guard lock(mutex_);
    if (now == seen_) return;
  }
  reload();
}

}  // namespace sluice::gateway
