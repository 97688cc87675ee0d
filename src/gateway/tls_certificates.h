// TlsCertificates: the certificate and key that a server shows, as files. They are read again when they have changed or
// somebody asks; a pair that does not fit is refused with a remark, and the one before stays. Any thread.
#pragma once
#include <sys/stat.h>

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/remark.h"
#include "base/result.h"

using SSL_CTX = struct ssl_ctx_st;  // NOLINT: as OpenSSL names it

namespace sluice::gateway {

class TlsCertificates {
 public:
  struct Files {
    std::string certificate;  // PEM: the server's first, then those that signed it
    std::string key;          // PEM, without a password
  };
  // An error if the pair cannot be used: which file it is and what is wrong with it.
  [[nodiscard]] static Result<std::shared_ptr<TlsCertificates>> open(Files files, OnRemark remark);

  // For new connections, never null. Those that are open keep what they began with.
  [[nodiscard]] std::shared_ptr<SSL_CTX> context() const;
  // Reads the files again, and remarks what came of it.
  void reload();
  // The same if one of them is another file than when they were read last, or was written since.
  void reload_if_changed();

 private:
  // What tells one state of a file from another without reading it; renewals rename or write.
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t written_s = 0, written_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  TlsCertificates(Files files, OnRemark remark) : files_(std::move(files)), remark_(std::move(remark)) {}
  [[nodiscard]] std::array<Stamp, 2> stamps() const;
  [[nodiscard]] Status read();
  void warn_of_dates(SSL_CTX& context) const;

  const Files files_;
  const OnRemark remark_;
  mutable std::mutex mutex_;
  std::array<Stamp, 2> seen_{};       // guarded by mutex_: when they were read last, whatever came of it
  std::shared_ptr<SSL_CTX> context_;  // guarded by mutex_
};

}  // namespace sluice::gateway
