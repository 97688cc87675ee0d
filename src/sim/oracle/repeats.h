// Repeats: an invocation of a stage that is not idempotent is started once in the life of its request, whatever happens
// to its machine; only one of which nothing ran, because it missed its window or its
// inputs, may be started again.
#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "sim/oracle/history.h"

namespace sluice::sim {

class Repeats {
 public:
  [[nodiscard]] std::string started(const History& history, const StartBatch& batch);
  void ended(const History::EndedBatch& batch);
  void forget(RequestId request) { started_.erase(request); }

 private:
  using Invocation = std::tuple<RunPath, StageId, std::uint32_t>;  // of a request; whichever run of it that was
  std::map<RequestId, std::set<Invocation>> started_;
};

}  // namespace sluice::sim
