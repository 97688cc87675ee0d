// GrantedSpace: the stretch of the arena that a batch may write its outputs to. Asks the server for more where it is
// too small, and waits for the answer.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.h"
#include "engine/engine.h"
#include "wire/channel.h"
#include "worker/mapping.h"

namespace sluice::worker {

class GrantedSpace : public engine::OutputSpace {
 public:
  GrantedSpace(wire::Channel& channel, const Mapping& mapping, std::uint64_t batch, std::span<std::byte> space)
      : channel_(channel), mapping_(mapping), batch_(batch), space_(space) {}

  [[nodiscard]] Result<std::span<std::byte>> take(std::size_t bytes) override;

  // The server is gone, stopped us or did not keep to the protocol while we waited.
  [[nodiscard]] bool lost() const { return lost_; }
  // For the server, which is no part of the function's time.
  [[nodiscard]] Duration waited() const { return waited_; }

 private:
  [[nodiscard]] Result<std::span<std::byte>> ask(std::size_t bytes);

  wire::Channel& channel_;
  const Mapping& mapping_;
  std::uint64_t batch_;
  std::span<std::byte> space_;
  Duration waited_;
  bool lost_ = false;
};

}  // namespace sluice::worker
