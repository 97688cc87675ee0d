// One form for the errors of numbers that are out of range.
#pragma once
#include <string_view>

#include "base/result.h"

namespace sluice::workload {

// Done if low ≤ value ≤ high (NaN is not), else an error that names the field and all three numbers.
[[nodiscard]] Status check_range(std::string_view field, double value, double low, double high);

}  // namespace sluice::workload
