#include "record/command_hash.h"

#include "base/save.h"

namespace sluice::record {

std::uint64_t hash_of(const Commands& commands) {
  Hash hash;
  add_to(hash, commands);
  return hash.value();
}

}  // namespace sluice::record
