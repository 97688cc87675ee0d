// What reading a document guarantees before validate() looks further: ids that point at something, conditions with the
// terms they need, numbers within the limits. An application from a log has to be asked.
#pragma once
#include "domain/application.h"

namespace sluice::record {

[[nodiscard]] bool well_formed(const Application& application);

}  // namespace sluice::record
