#include "core/tenant_books.h"

#include <algorithm>

namespace sluice::core {
namespace {

std::uint32_t left_of(std::optional<std::uint32_t> most, std::uint64_t held) {
  if (!most) return policy::TenantRoom::kNoLimit;
  return *most > held ? static_cast<std::uint32_t>(*most - held) : 0;
}

}  // namespace

std::uint32_t TenantBooks::number_of(const std::string& tenant) {
  const auto known = std::ranges::find(accounts_, tenant, &Account::tenant);
  const auto number = static_cast<std::uint32_t>(known - accounts_.begin());
  if (known != accounts_.end()) return number;
  accounts_.push_back({.tenant = tenant});
  left_.emplace_back();
  return number;
}

void TenantBooks::set(const QuotaChanged& event) {
  const std::uint32_t tenant = number_of(event.tenant);
  accounts_[tenant].vcpu_max = event.vcpu;
  accounts_[tenant].slices_max = event.slices;
  work_out(tenant);
}

void TenantBooks::take(std::uint32_t tenant, const Configuration& configuration) {
  accounts_[tenant].vcpu += configuration.vcpu;
  accounts_[tenant].slices += configuration.slices;
  work_out(tenant);
}

void TenantBooks::give_back(std::uint32_t tenant, const Configuration& configuration) {
  accounts_[tenant].vcpu -= configuration.vcpu;
  accounts_[tenant].slices -= configuration.slices;
  work_out(tenant);
}

void TenantBooks::work_out(std::uint32_t tenant) {
  const Account& account = accounts_[tenant];
  left_[tenant] = {.vcpu = left_of(account.vcpu_max, account.vcpu),
                   .slices = left_of(account.slices_max, account.slices),
                   .vcpu_max = left_of(account.vcpu_max, 0),
                   .slices_max = left_of(account.slices_max, 0)};
}

void TenantBooks::visit(Archive& archive) {
  archive(accounts_);
  if (!archive.is_loading()) return;
  left_.resize(accounts_.size());
  for (std::uint32_t tenant = 0; tenant < accounts_.size(); ++tenant) work_out(tenant);
}

}  // namespace sluice::core
