// Keys and tenants that only pretend: a key's text is its name, and everything happens at once.
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "live/identity.h"

namespace sluice::gateway {

class FakeIdentity final : public live::Identity {
 public:
  std::vector<store::Key> all_keys;
  std::vector<store::Tenant> all_tenants = {{.name = "default", .id = TenantId(0), .quota = {}}};

  std::optional<Principal> who(std::string_view key) const override {
    const auto found = std::ranges::find(all_keys, key, &store::Key::name);
    return found == all_keys.end() ? std::nullopt : std::optional(found->principal);
  }
  bool open_to_guests() const override { return all_tenants.size() == 1; }
  std::vector<store::Key> keys() const override { return all_keys; }
  void add_key(std::string name, Principal principal, std::function<void(Result<std::string>)> done) override {
    if (who(name)) return done(Error{ErrorCode::already_exists, "it is there"});
    all_keys.push_back({.name = name, .principal = std::move(principal), .made = Time::from_ns(5'000'000), .hash = {}});
    done("text of " + name);
  }
  void revoke_key(std::string name, OnDone done) override {
    const bool gone = std::erase_if(all_keys, [&](const store::Key& key) { return key.name == name; }) > 0;
    gone ? done(Done{}) : done(Error{ErrorCode::not_found, "there is no key '" + name + "'"});
  }
  std::vector<store::Tenant> tenants() const override { return all_tenants; }
  void add_tenant(std::string name, Quota quota, OnDone done) override {
    all_tenants.push_back({.name = std::move(name), .id = TenantId(7), .quota = quota});
    done(Done{});
  }
  void set_quota(std::string name, Quota quota, OnDone done) override {
    const auto found = std::ranges::find(all_tenants, name, &store::Tenant::name);
    if (found == all_tenants.end()) return done(Error{ErrorCode::not_found, "there is no tenant '" + name + "'"});
    found->quota = quota;
    done(Done{});
  }
  void remove_tenant(std::string name, OnDone done) override {
    std::erase_if(all_tenants, [&](const store::Tenant& tenant) { return tenant.name == name; });
    done(Done{});
  }
};

}  // namespace sluice::gateway
