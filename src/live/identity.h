// Identity: whose key it is that a request brings, and who looks after keys and tenants. The gateway asks who() before
// it reads a body, so nothing here waits: changes call back. Any thread. The one implementation is LocalIdentity
// (local_identity.h); tests bring a fake.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/principal.h"
#include "store/key.h"
#include "store/records.h"

namespace sluice::live {

class Identity {
 public:
  using OnDone = std::function<void(Status)>;
  virtual ~Identity() = default;

  // Nothing: it is nobody's.
  [[nodiscard]] virtual std::optional<Principal> who(std::string_view key) const = 0;
  // Whether requests without a key are served on loopback addresses: while there is one tenant.
  [[nodiscard]] virtual bool open_to_guests() const = 0;

  [[nodiscard]] virtual std::vector<store::Key> keys() const = 0;  // by name
  // `done` gets the text of the key, which nobody can ask for again.
  virtual void add_key(std::string name, Principal principal, std::function<void(Result<std::string>)> done) = 0;
  // From `done` on the key opens nothing.
  virtual void revoke_key(std::string name, OnDone done) = 0;

  [[nodiscard]] virtual std::vector<store::Tenant> tenants() const = 0;  // by name
  virtual void add_tenant(std::string name, Quota quota, OnDone done) = 0;
  virtual void set_quota(std::string name, Quota quota, OnDone done) = 0;
  virtual void remove_tenant(std::string name, OnDone done) = 0;
};

}  // namespace sluice::live
