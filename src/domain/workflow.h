// Workflow: a DAG of stages. Plain data; what can be computed from it is in graph.h, dominators.h, series_parallel.h
// and paths.h, what can be wrong with it in validate.h.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"
#include "domain/condition.h"
#include "domain/configuration.h"
#include "domain/ids.h"

namespace sluice {

struct Workflow;

// How many of its predecessors a stage waits for. A skipped predecessor counts as finished.
struct Join {
  enum class Kind { all, any, at_least };
  friend constexpr Kind last_of(Kind) { return Kind::at_least; }
  Kind kind = Kind::all;
  std::uint32_t count = 0;  // at_least: K, 1 ≤ K ≤ number of predecessors
  // Predecessors needed out of `predecessors`.
  [[nodiscard]] std::size_t needed(std::size_t predecessors) const {
    return kind == Kind::all ? predecessors : kind == Kind::any ? std::min<std::size_t>(1, predecessors) : count;
  }
  friend bool operator==(const Join&, const Join&) = default;
  void visit(auto& archive) { archive(kind, count); }
};

// One invocation per item of `over`, or one run of `body` per item; the next stage gets the outputs stacked in order.
struct Foreach {
  Reference over;
  std::uint32_t limit = 0;     // items at a time, 0 = all
  std::vector<Workflow> body;  // none or one
  friend bool operator==(const Foreach&, const Foreach&);
  void visit(auto& archive) { archive(over, limit, body); }
};

struct Retry {
  std::uint32_t attempts = 3;  // after the first
  Duration interval = Duration::s(1);
  double backoff = 2.0;  // ≥ 1
  std::optional<Duration> max_delay;
  std::vector<std::string> on;  // error names; empty: all
  friend bool operator==(const Retry&, const Retry&) = default;
  void visit(auto& archive) { archive(attempts, interval, backoff, max_delay, on); }
};

// On error `error` ("all" catches every one) the request goes on at `handler`.
struct Catch {
  std::string error;
  StageId handler;
  friend bool operator==(const Catch&, const Catch&) = default;
  void visit(auto& archive) { archive(error, handler); }
};

struct InputBinding {
  std::string input;
  Reference from;
  friend bool operator==(const InputBinding&, const InputBinding&) = default;
  void visit(auto& archive) { archive(input, from); }
};

struct Failure {
  std::string error, cause;
  friend bool operator==(const Failure&, const Failure&) = default;
  void visit(auto& archive) { archive(error, cause); }
};

struct Stage {
  enum class Kind {
    run,   // runs its function
    pass,  // runs nothing and hands its inputs on (a fork, a join or a wait)
    fail,  // ends the request with `failure`
  };
  friend constexpr Kind last_of(Kind) { return Kind::fail; }
  std::string name;
  Kind kind = Kind::run;
  FunctionId function;               // run only: position in Application::functions
  std::vector<StageId> after;        // in the order written, no duplicates
  std::vector<InputBinding> inputs;  // explicit wiring, sorted by input; the rest is wired by name (wiring.h)
  std::optional<Condition> when;
  std::optional<Foreach> foreach;
  Join join;
  std::optional<Retry> retry;
  std::vector<Catch> catches;
  Duration wait;                    // before the stage starts
  std::optional<Duration> timeout;  // run only: a worker that has had a batch of it for longer is ended
  bool idempotent = true;
  ConfigurationFilter configurations;
  Failure failure;  // fail only
  friend bool operator==(const Stage&, const Stage&) = default;
  void visit(auto& archive) {
    archive(name, kind, function, after, inputs, when, foreach, join, retry, catches, wait, timeout, idempotent,
            configurations, failure);
  }
};

struct Workflow {
  std::vector<Stage> stages;  // StageId is the position
  [[nodiscard]] const Stage& at(StageId id) const { return stages[id.index()]; }
  [[nodiscard]] std::size_t size() const { return stages.size(); }
  [[nodiscard]] StageId find(std::string_view name) const;  // linear; none() if there is no such stage
  friend bool operator==(const Workflow&, const Workflow&) = default;
  void visit(auto& archive) { archive(stages); }
};

// Written out: clang 14 crashes on a defaulted comparison of types that contain each other.
inline bool operator==(const Foreach& a, const Foreach& b) {
  return a.over == b.over && a.limit == b.limit && a.body == b.body;
}

// For people: `detect.score < 0.85 and not request.kind == "x"`.
[[nodiscard]] std::string describe(const Condition& condition, const Workflow& workflow);
[[nodiscard]] std::string describe(const Reference& reference, const Workflow& workflow);  // "detect.boxes"

}  // namespace sluice
