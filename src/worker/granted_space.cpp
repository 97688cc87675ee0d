#include "worker/granted_space.h"

#include <string>
#include <variant>

#include "base/text.h"
#include "wire/messages.h"
#include "worker/stopwatch.h"

namespace sluice::worker {

Result<std::span<std::byte>> GrantedSpace::take(std::size_t bytes) {
  if (bytes <= space_.size()) return space_.first(bytes);
  const Stopwatch stopwatch;
  auto space = ask(bytes);
  waited_ += stopwatch.elapsed();
  return space;
}

Result<std::span<std::byte>> GrantedSpace::ask(std::size_t bytes) {
  lost_ = true;  // until an answer makes sense
  const Error none{ErrorCode::unavailable, str("there is no room for outputs of ", bytes, " bytes")};
  std::string message;
  if (!wire::encode(wire::Wanted{batch_, bytes}, message) || !channel_.send(message)) return none;
  if (channel_.receive(message) != wire::Received::message) return none;
  const auto answer = wire::decode_to_worker(message);
  if (!answer) return none;
  const auto* grant = std::get_if<wire::Grant>(&*answer);
  if (grant == nullptr || grant->batch != batch_) return none;
  lost_ = false;
  const auto space = mapping_.at(grant->outputs.offset, grant->outputs.size);
  space_ = space.value_or(std::span<std::byte>{});
  if (space_.size() < bytes) return none;
  return space_.first(bytes);
}

}  // namespace sluice::worker
