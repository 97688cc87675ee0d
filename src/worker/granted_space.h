// GrantedSpace: the stretch of the arena that a batch may write its outputs to. Where it is too small the server is
// asked for more; how the answer comes depends on whether the batch has a thread of its own (serve_alone.cpp,
// serve_lanes.cpp).
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/time.h"
#include "engine/engine.h"
#include "wire/messages.h"
#include "worker/mapping.h"

namespace sluice::worker {

class GrantedSpace : public engine::BatchContext {
 public:
  GrantedSpace(const Mapping& mapping, std::span<std::byte> space) : mapping_(mapping), space_(space) {}

  [[nodiscard]] Result<std::span<std::byte>> take(std::size_t bytes) final;

  // The server is gone, stopped us or did not keep to the protocol while the batch waited.
  [[nodiscard]] bool lost() const { return lost_; }
  // For the server, which is no part of the function's time.
  [[nodiscard]] Duration waited() const { return waited_; }

 protected:
  // What the server grants, which may be less than that; nothing: it will not answer any more.
  [[nodiscard]] virtual std::optional<wire::Space> ask(std::uint64_t bytes) = 0;
  void lose() { lost_ = true; }

 private:
  const Mapping& mapping_;
  std::span<std::byte> space_;
  Duration waited_;
  bool lost_ = false;
};

}  // namespace sluice::worker
