#include "wire/confinement.h"

#include "base/save.h"
#include "base/text.h"

namespace sluice::wire {

std::string encode(const Confinement& confinement) {
  std::string out;
  save(confinement, out);
  return out;
}

Result<Confinement> decode_confinement(std::string_view bytes) {
  auto out = load<Confinement>(bytes);
  if (!out)
    return Error{ErrorCode::invalid, str("a message of ", bytes.size(), " bytes says nothing of a confinement")};
  return *std::move(out);
}

}  // namespace sluice::wire
