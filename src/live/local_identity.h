// LocalIdentity: keys and tenants of a data directory, held in memory and written through. The file DATA/key is a key
// too, of an admin: whoever may read the file may do everything.
#pragma once
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "live/identity.h"
#include "store/store.h"
#include "store/writer.h"

namespace sluice::live {

class LocalIdentity final : public Identity {
 public:
  // Makes DATA/key if there is none.
  [[nodiscard]] static Result<std::unique_ptr<LocalIdentity>> open(store::Store& store);
  // The store is the writer's from now on. REQUIRES: before the first change; `writer` outlives this.
  void write_with(store::Writer& writer) { writer_ = &writer; }
  // Called now and after every change for each tenant, one call at a time. REQUIRES: as write_with().
  void on_quota(std::function<void(const store::Tenant&)> changed);

  [[nodiscard]] std::optional<Principal> who(std::string_view key) const override;
  [[nodiscard]] bool open_to_guests() const override { return known()->tenants.size() == 1; }
  [[nodiscard]] std::vector<store::Key> keys() const override { return known()->keys; }
  void add_key(std::string name, Principal principal, std::function<void(Result<std::string>)> done) override;
  void revoke_key(std::string name, OnDone done) override;
  [[nodiscard]] std::vector<store::Tenant> tenants() const override { return known()->tenants; }
  [[nodiscard]] std::optional<store::Tenant> tenant(std::string_view name) const;
  void add_tenant(std::string name, Quota quota, OnDone done) override;
  void set_quota(std::string name, Quota quota, OnDone done) override;
  void remove_tenant(std::string name, OnDone done) override;

 private:
  // Never changed: a change makes another.
  struct Known {
    std::vector<store::Key> keys;
    std::unordered_map<std::string, Principal> by_hash;
    std::vector<store::Tenant> tenants;
  };
  using Change = std::function<Status(store::Store&)>;

  LocalIdentity(store::Key admin, std::string salt) : admin_(std::move(admin)), salt_(std::move(salt)) {}
  [[nodiscard]] Result<std::shared_ptr<const Known>> read(store::Store& store) const;
  [[nodiscard]] std::shared_ptr<const Known> known() const { return std::atomic_load(&known_); }
  void change(Change change, OnDone done);
  void tell_quotas() const;

  const store::Key admin_;  // DATA/key
  const std::string salt_;
  store::Writer* writer_ = nullptr;
  std::function<void(const store::Tenant&)> changed_;
  std::shared_ptr<const Known> known_;
};

}  // namespace sluice::live
