// What the scheduler remembers about requests, their runs through workflows, and batches. Plain data; slots are reused.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/archive.h"
#include "base/money.h"
#include "core/slots.h"
#include "domain/commands.h"
#include "domain/events.h"
#include "policy/view.h"

namespace sluice::core {

// One stage of one run.
struct StageRun {
  enum class State : std::uint8_t { blocked, waiting, queued, running, done, skipped, failed };
  friend constexpr State last_of(State) { return State::failed; }
  enum class Verdict : std::uint8_t { unknown, holds, fails };
  friend constexpr Verdict last_of(Verdict) { return Verdict::fails; }
  State state = State::blocked;
  Verdict verdict = Verdict::unknown;  // of its condition
  bool items_known = false;
  bool called = false;         // as a handler: it runs whatever its predecessors and condition say
  std::uint16_t finished = 0;  // predecessors that are over, skipped ones included
  std::uint16_t skipped = 0;   // of those
  std::uint16_t attempts = 0;  // that failed
  std::uint32_t items = 1;     // of a foreach
  std::uint32_t items_started = 0, items_done = 0;
  InvokerId outputs_at;
  bool lost = false;  // its outputs are gone
  Bytes bytes;        // of its outputs
  void visit(Archive& a) {
    a(state, verdict, items_known, called, finished, skipped, attempts, items, items_started, items_done, outputs_at,
      lost, bytes);
  }
};

// One way through a workflow: of a request, or of one item of a foreach with a workflow inside.
struct Run {
  bool used = false;
  std::uint32_t generation = 0;  // grows with every use of the slot, so that what is left of an earlier one is known
  std::uint64_t number = 0;      // never used again
  Slot request = kNoSlot;
  std::uint32_t workflow = 0;  // of the application's Control
  Slot parent = kNoSlot;       // the run whose foreach started this one
  std::uint32_t parent_stage = 0, item = 0;
  std::uint32_t open = 0;  // exit stages that are not over
  std::vector<StageRun> stages;
  void visit(Archive& a) { a(used, generation, number, request, workflow, parent, parent_stage, item, open, stages); }
};

// What is known of a run that has not begun.
struct Foretold {
  std::vector<Verdict> verdicts;
  std::vector<FanOut> fan_outs;
  void visit(Archive& a) { a(verdicts, fan_outs); }
};

// What was promised to a stage of a request when it was admitted.
struct Promise {
  std::uint32_t stage = 0;
  ReservationId reservation;
  InvokerId invoker;
  void visit(Archive& a) { a(stage, reservation, invoker); }
};

struct Request {
  bool used = false;
  RequestId id;
  ApplicationId application;
  Time arrival, deadline;
  double size = 1;
  Bytes bytes;
  std::vector<Slot> runs;     // the first is the root
  std::uint32_t waiting = 0;  // invocations in queues
  PicoDollars cost;
  std::vector<InvokerId> left_at;  // invokers that hold something it made
  std::vector<Promise> promises;   // of stages that have not started
  std::vector<Verdict> verdicts;   // that came with it: needed again if it begins again
  std::vector<FanOut> fan_outs;
  std::map<RunPath, Foretold> foretold;
  std::uint32_t restarts = 0;
  void visit(Archive& a) {
    a(used, id, application, arrival, deadline, size, bytes, runs, waiting, cost, left_at, promises, verdicts, fan_outs,
      foretold, restarts);
  }
};

struct Batch {
  bool used = false;
  BatchId id;
  ApplicationId application;          // none: an invoker brought it along, and it is to stop
  policy::SharedFunctionId function;  // likewise
  InvokerId invoker;
  InstanceId instance;  // none where everything is warm
  Configuration configuration;
  SlicePositions positions;
  bool cancelled = false;  // the invoker was told to stop it
  std::vector<policy::Waiting> members;
  void visit(Archive& a) {
    a(used, id, application, function, invoker, instance, configuration, positions, cancelled, members);
  }
};

// A stage that starts, or tries again, at an instant.
struct Timer {
  Time at;
  Slot run = kNoSlot;
  std::uint32_t stage = 0, item = 0;
  std::uint64_t order = 0;       // of equal instants: as set
  bool begins = false;           // the stage begins; else one invocation of it tries again
  std::uint32_t generation = 0;  // of the run
  friend bool operator<(const Timer& a, const Timer& b) { return std::pair(a.at, a.order) < std::pair(b.at, b.order); }
  void visit(Archive& a) { a(at, run, stage, item, order, begins, generation); }
};

}  // namespace sluice::core
