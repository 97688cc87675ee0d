// Mix: which application a request calls, by the weights of the workload.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/rng.h"

namespace sluice::workload {

class Mix {
 public:
  // Without weights all applications are equally likely; with them, those left out are not called.
  [[nodiscard]] static Result<Mix> make(const std::map<std::string, double>& weights,
                                        std::span<const std::string> applications);
  // A position in `applications`.
  [[nodiscard]] std::uint32_t draw(Rng& rng) const;

 private:
  std::vector<double> up_to_;  // sum of the weights up to and including each application
};

// The position of `name` in `applications`, or an error that says where it was named and which name is near.
[[nodiscard]] Result<std::uint32_t> find_application(std::string_view name, std::span<const std::string> applications,
                                                     std::string_view where);

}  // namespace sluice::workload
