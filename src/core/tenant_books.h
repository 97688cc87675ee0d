// TenantBooks: what every tenant may hold at once on all machines together, and what its running batches hold. A batch
// that would take more waits until another one of its tenant ends.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/archive.h"
#include "domain/events.h"
#include "policy/view.h"

namespace sluice::core {

class TenantBooks {
 public:
  // The tenant's number: its position in left(). The same for a name each time.
  [[nodiscard]] std::uint32_t number_of(const std::string& tenant);
  // What runs goes on; what is held beyond the new quota leaves nothing until enough of it has ended.
  void set(const QuotaChanged& event);
  [[nodiscard]] std::span<const policy::TenantRoom> left() const { return left_; }

  // REQUIRES: left()[tenant].covers(configuration), unless the batch ran before anybody was asked.
  void take(std::uint32_t tenant, const Configuration& configuration);
  void give_back(std::uint32_t tenant, const Configuration& configuration);

  struct Account {
    std::string tenant;
    std::optional<std::uint32_t> vcpu_max, slices_max;
    std::uint64_t vcpu = 0, slices = 0;  // held by its batches
    void visit(Archive& a) { a(tenant, vcpu_max, slices_max, vcpu, slices); }
  };
  [[nodiscard]] std::span<const Account> accounts() const { return accounts_; }
  void visit(Archive& archive);

 private:
  void work_out(std::uint32_t tenant);

  std::vector<Account> accounts_;         // as tenants were named first
  std::vector<policy::TenantRoom> left_;  // derived
};

}  // namespace sluice::core
