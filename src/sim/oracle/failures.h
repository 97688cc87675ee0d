// Failures: a request fails only for a reason that counts. One of its invocations has failed as often as its stage or
// `attempts_max` allows, its function could not be loaded as often while the request was there, its results were lost
// as often, or a queue was full. One is cancelled only if its caller asked for it.
#pragma once
#include <map>
#include <string>
#include <tuple>

#include "core/scheduler.h"
#include "sim/oracle/history.h"

namespace sluice::sim {

class Failures {
 public:
  explicit Failures(const core::Limits& limits) : limits_(limits) {}

  void ended(const History& history, const History::EndedBatch& batch);
  // What is wrong with an answer; empty: nothing.
  [[nodiscard]] std::string answered(const History& history, const Reply& reply);

 private:
  struct Count {
    std::uint32_t failures = 0;
    std::uint32_t allowed = 0;  // that the last of them leaves it
    std::string error;          // of the last of them
  };
  using Invocation = std::tuple<std::uint64_t, RunPath, StageId, std::uint32_t>;  // outermost run, path, stage, item
  enum class Cause : std::uint8_t { function, machine, not_run };
  void count(const History& history, const BatchMember& member, const std::string& error, Cause cause);
  [[nodiscard]] std::uint32_t allowed(const Stage& stage, const std::string& error, Cause cause) const;
  [[nodiscard]] bool justified(const History& history, const Reply& reply, const History::Call& call) const;

  core::Limits limits_;
  std::map<RequestId, std::map<Invocation, Count>> counts_;
};

}  // namespace sluice::sim
