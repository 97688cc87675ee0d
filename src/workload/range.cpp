#include "workload/range.h"

#include "base/text.h"

namespace sluice::workload {

Status check_range(std::string_view field, double value, double low, double high) {
  if (value >= low && value <= high) return Done{};
  return Error{ErrorCode::invalid, str(field, " is ", value, "; it must be from ", low, " to ", high)};
}

}  // namespace sluice::workload
