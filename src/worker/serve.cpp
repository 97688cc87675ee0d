#include "worker/serve.h"

#include <string>
#include <variant>
#include <vector>

#include "base/text.h"
#include "domain/limits.h"
#include "wire/messages.h"

namespace sluice::worker {
namespace {

Result<Mapping> greeted(const wire::Hello& hello, const std::vector<wire::Descriptor>& descriptors) {
  if (hello.version != wire::kVersion) {
    return Error{ErrorCode::invalid,
                 str("the server speaks version ", hello.version, " of the worker protocol, this worker ",
                     wire::kVersion, "; both have to be of one build")};
  }
  if (hello.lanes == 0 || hello.lanes > wire::lanes_max) {
    return Error{ErrorCode::invalid,
                 str("the server asks for ", hello.lanes, " lanes, there may be 1 to ", wire::lanes_max)};
  }
  if (hello.slices > limits::slices_per_gpu_max) {
    return Error{ErrorCode::invalid, str("the server says that a GPU has ", hello.slices, " slices")};
  }
  if (descriptors.size() != 1) return Error{ErrorCode::invalid, "no shared memory came along"};
  return Mapping::map(descriptors.front(), hello.arena_bytes);
}

}  // namespace

Error out_of_turn(const std::string& what) {
  return {ErrorCode::invalid, str("the server sent ", what, ", which is not its turn")};
}

Status serve(wire::Channel channel, const MakeEngine& make) {
  std::string message;
  std::vector<wire::Descriptor> descriptors;
  if (channel.receive(message, &descriptors) != wire::Received::message) return Done{};
  const auto decoded = wire::decode_to_worker(message);
  if (!decoded) return decoded.error();
  if (std::holds_alternative<wire::Stop>(*decoded)) return Done{};
  const auto* hello = std::get_if<wire::Hello>(&*decoded);
  if (hello == nullptr) return out_of_turn("something else before Hello");
  const auto mapping = greeted(*hello, descriptors);
  if (!mapping) return mapping.error();
  descriptors.clear();  // what is mapped stays mapped
  engine::Gpu gpu{.mode = hello->mode, .slices = hello->slices, .pinned = {}};
  if (hello->pinned) gpu.pinned = *mapping->at(0, hello->arena_bytes);
  if (hello->lanes == 1 && gpu.slices == 0) return serve_alone(channel, *mapping, make);
  return serve_lanes(channel, *mapping, make, hello->lanes, gpu);
}

}  // namespace sluice::worker
