// Profiles as plain data: what somebody measured or assumed. Answering "how long" from them is profile/'s work.
#pragma once
#include <optional>
#include <variant>
#include <vector>

#include "base/time.h"
#include "domain/configuration.h"

namespace sluice {

struct ProfileRow {
  Configuration configuration;
  double size = 1;  // relative input size the row was measured at; requests have none, so only 1 can be planned with
  double mean_ms = 0;
  double sd_ms = 0;
  std::optional<double> busy_mean_ms;  // with all other slices of the GPU busy
  friend bool operator==(const ProfileRow&, const ProfileRow&) = default;
  void visit(auto& archive) { archive(configuration, size, mean_ms, sd_ms, busy_mean_ms); }
};

struct ProfileTable {
  std::vector<ProfileRow> rows;
  friend bool operator==(const ProfileTable&, const ProfileTable&) = default;
  void visit(auto& archive) { archive(rows); }
};

// t(b,c,g) = exec · (floor + gpu · b^beta / g^gamma + cpu · b / min(c, 2b)^0.8); on the CPU (g = 0) the gpu term is
// absent from the sets. floor + cpu + gpu = 1, so that t(1,1,1) = exec.
struct ProfileModel {
  Duration exec;
  double floor = 0, cpu = 0, gpu = 0, beta = 1, gamma = 1;
  std::vector<std::uint16_t> batch, vcpu, slices;  // candidates are the cross product
  double noise = 0;                                // standard deviation over mean
  friend bool operator==(const ProfileModel&, const ProfileModel&) = default;
  void visit(auto& archive) { archive(exec, floor, cpu, gpu, beta, gamma, batch, vcpu, slices, noise); }
};

// Nothing: not known yet, `deploy` measures it.
using Profile = std::variant<std::monostate, ProfileTable, ProfileModel>;

// Time to raise an instance by one level; a cold start from nothing is the sum.
struct ColdStart {
  Duration process, host, device;
  [[nodiscard]] Duration total() const { return process + host + device; }
  friend bool operator==(const ColdStart&, const ColdStart&) = default;
  void visit(auto& archive) { archive(process, host, device); }
};

struct Prices {
  double vcpu_hour = 0.034;  // dollars
  double vgpu_hour = 0.67;
  // Dollars per millisecond of holding what `configuration` holds.
  [[nodiscard]] double per_ms(const Configuration& c) const {
    return (c.vcpu * vcpu_hour + c.slices * vgpu_hour) / 3.6e6;
  }
  friend bool operator==(const Prices&, const Prices&) = default;
  void visit(auto& archive) { archive(vcpu_hour, vgpu_hour); }
};

}  // namespace sluice
