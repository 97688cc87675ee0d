// Principal: on whose behalf a request is served. Made by the gateway from the head of a request, before its body is
// read; every call into the platform carries it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

// Each may do what the ones before it may. A guest has brought no key.
enum class Role : std::uint8_t {
  guest,     // calls models and reads; only while there is one tenant
  caller,    // calls models, reads and cancels the requests of its tenant
  deployer,  // deploys and removes the applications of its tenant
  admin,     // everything, of every tenant
};

inline constexpr std::string_view kDefaultTenant = "default";

struct Principal {
  std::string tenant{kDefaultTenant};
  Role role = Role::guest;
  friend bool operator==(const Principal&, const Principal&) = default;

  [[nodiscard]] bool may(Role needed) const { return role >= needed; }
  // A guest is let in only while there is nobody else to be kept apart from.
  [[nodiscard]] bool sees_everything() const { return role == Role::admin || role == Role::guest; }
  [[nodiscard]] bool sees(std::string_view owner) const { return sees_everything() || owner == tenant; }
};

[[nodiscard]] constexpr std::string_view name_of(Role role) {
  return role == Role::guest      ? "guest"
         : role == Role::caller   ? "caller"
         : role == Role::deployer ? "deployer"
                                  : "admin";
}
// Of those that a key may have.
[[nodiscard]] constexpr std::optional<Role> parse_role(std::string_view name) {
  for (const Role role : {Role::caller, Role::deployer, Role::admin}) {
    if (name == name_of(role)) return role;
  }
  return std::nullopt;
}

}  // namespace sluice
