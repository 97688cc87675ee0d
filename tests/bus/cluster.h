// Machines that hold objects of a request, and wires between all of them, in virtual time: stores, exchanges and
// resolvers are real, the network loses, doubles and reorders frames as a seed has it.
#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "bus/machine.h"
#include "bus/object_exchange.h"
#include "bus/resolver.h"
#include "data/values.h"
#include "support/tensor_text.h"

namespace sluice::bus {

constexpr RequestId kRequest(1);
constexpr std::uint64_t kRun = 7;

inline Stage stage(const std::string& name, std::vector<std::uint32_t> after = {}) {
  Stage out{.name = name, .function = FunctionId(0)};
  for (const std::uint32_t before : after) out.after.push_back(StageId(before));
  return out;
}
inline Condition above(std::uint32_t stage, double right) {
  return {.comparison = {{StageId(stage), "x"}, Comparator::greater, right}};
}
inline Application application_of(std::vector<Stage> stages) {
  Application out;
  out.functions = {{.name = "f"}};
  out.workflow.stages = std::move(stages);
  return out;
}

inline data::SharedTensors floats(data::Arena& arena, const std::vector<float>& x,
                                  const std::vector<std::int64_t>& shape) {
  const data::Block block = *arena.allocate(x.size() * sizeof(float));
  if (!x.empty()) std::memcpy(block.data(), x.data(), block.size());
  return std::make_shared<const data::Tensors>(
      data::Tensors{{.info = {"x", DataType::fp32, shape}, .block = block, .size = block.size()}});
}
// As "[shape]: values; …".
inline std::string text(const data::Tensors& tensors) {
  std::string out;
  for (const data::Tensor& tensor : tensors) {
    out += str(out.empty() ? "" : "; ", test::shape_text(tensor), ":", test::numbers_text(tensor));
  }
  return out;
}

// Machine `i` is invoker `i`; the gateway is the last one and has the inputs of the request.
class Cluster {
 public:
  struct Options {
    std::uint32_t machines = 2;
    std::uint64_t seed = 0;  // of the weather; 0: nothing is lost
    std::uint64_t slow = 0;  // seed of delays: each line now and then holds back what it carries; 0: a step is enough
    ObjectExchange::Options exchange = {};
  };
  struct Node {
    data::ObjectStore store;
    std::shared_ptr<data::Arena> arena = data::Arena::make(Bytes::mb(64)).value();
    std::optional<ObjectExchange> exchange;
    std::optional<Resolver> resolver;
    std::vector<Resolver::Ticket> tickets;
  };

  Cluster(Application application, const Options& options)
      : application_(std::move(application)), options_(options), rng_(options.seed), delays_(options.slow) {
    for (std::uint32_t n = 0; n <= options.machines; ++n) {
      Node& added = nodes_.emplace_back();
      ObjectExchange::Options own = options.exchange;
      if (n < options.machines) own.here = {InvokerId(n)};
      added.exchange.emplace(added.store, own);
      added.resolver.emplace(*added.exchange, added.store);
      if (n < options.machines) added.store.expect(kRequest);
    }
    gateway().store.open(kRequest, floats(*gateway().arena, {1, 2}, {2}));
    for (std::uint32_t a = 0; a <= options.machines; ++a) {
      for (std::uint32_t b = 0; b < a; ++b) connect(a, b);
    }
  }

  [[nodiscard]] Node& node(std::uint32_t n) { return nodes_[n]; }
  [[nodiscard]] Node& gateway() { return nodes_.back(); }
  [[nodiscard]] const Application& application() const { return application_; }
  [[nodiscard]] Rng& rng() { return rng_; }

  void leave(std::uint32_t n, std::uint32_t stage_number, const std::vector<float>& x,
             const std::vector<std::int64_t>& shape, std::uint32_t item = 0) {
    node(n).store.put(kRequest, {kRun, StageId(stage_number), item, {}}, floats(*node(n).arena, x, shape));
  }
  // Nothing gets to this machine or from there any more.
  void cut(std::uint32_t n) { cut_.push_back(n); }

  void step() {
    now_ = now_ + Duration::ms(5);
    for (Line& line : lines_) {
      const bool dead = std::count(cut_.begin(), cut_.end(), line.from) + std::count(cut_.begin(), cut_.end(), line.to);
      std::string frame;
      while ((options_.slow == 0 || delays_.chance(0.3)) && line.sent.take(frame)) line.wire.put(frame);
      if (dead) line.wire.drop_all();
      if (options_.seed != 0) line.wire.shake(rng_);
    }
    for (Node& n : nodes_) n.exchange->work(now_);
  }
  void steps(int count) {
    for (int i = 0; i < count; ++i) step();
  }

  // What a stage reads at a machine, or "?" until that is known.
  struct Reading {
    std::string text = "?";
    Resolver::Missed missed;
    bool done = false;
  };
  std::shared_ptr<Reading> read(std::uint32_t n, std::uint32_t stage_number, std::vector<InvokerId> places) {
    return resolve(n, std::move(places), [=, this](Reading& out, data::Missing& missing) {
      const data::Values values(node(n).store, application_, {kRequest, kRun}, *node(n).arena, &missing);
      const auto inputs = values.inputs_of(StageId(stage_number), 0);
      out.text = inputs ? text(*inputs) : inputs.error().message;
    });
  }
  std::shared_ptr<Reading> outputs(std::uint32_t n, std::vector<InvokerId> places) {
    return resolve(n, std::move(places), [=, this](Reading& out, data::Missing& missing) {
      const data::Values values(node(n).store, application_, {kRequest, kRun}, *node(n).arena, &missing);
      const auto outputs = values.outputs();
      out.text = outputs ? text(*outputs) : outputs.error().message;
    });
  }
  // What is known when a stage has left its outputs there: "stage: yes", "stage: no", "stage: items", each followed by
  // a space.
  std::shared_ptr<Reading> known(std::uint32_t n, std::uint32_t stage_number, std::vector<InvokerId> places) {
    return resolve(n, std::move(places), [=, this](Reading& out, data::Missing& missing) {
      const data::Values values(node(n).store, application_, {kRequest, kRun}, *node(n).arena, &missing);
      const auto known = values.known_after(StageId(stage_number));
      out.text.clear();
      for (const Verdict& v : known->verdicts) out.text += str(v.stage.value(), v.holds ? ": yes " : ": no ");
      for (const FanOut& f : known->fan_outs) out.text += str(f.stage.value(), ": ", f.items, " ");
    });
  }

 private:
  struct Line {  // one direction
    std::uint32_t from, to;
    Wire sent, wire;
  };
  void connect(std::uint32_t a, std::uint32_t b) {
    Line& there = lines_.emplace_back(Line{a, b, {}, {}});
    Line& back = lines_.emplace_back(Line{b, a, {}, {}});
    node(a).exchange->connect(place(b), ends_.emplace_back(there.sent, back.wire));
    node(b).exchange->connect(place(a), ends_.emplace_back(back.sent, there.wire));
  }
  [[nodiscard]] InvokerId place(std::uint32_t n) const {
    return n < options_.machines ? InvokerId(n) : InvokerId::none();
  }
  template <class Attempt>
  std::shared_ptr<Reading> resolve(std::uint32_t n, std::vector<InvokerId> places, Attempt attempt) {
    auto out = std::make_shared<Reading>();
    auto ticket =
        node(n).resolver->resolve({.request = kRequest,
                                   .places = std::move(places),
                                   .arena = node(n).arena,
                                   .attempt = [out, attempt](data::Missing& missing) { attempt(*out, missing); },
                                   .done =
                                       [out](const Resolver::Missed& missed) {
                                         out->missed = missed;
                                         out->done = true;
                                       }});
    if (ticket)
      node(n).tickets.push_back(std::move(*ticket));
    else
      out->done = true;
    return out;
  }

  Application application_;
  Options options_;
  Rng rng_, delays_;
  std::deque<Node> nodes_;
  std::deque<Line> lines_;
  std::deque<End> ends_;
  std::vector<std::uint32_t> cut_;
  Time now_ = Time::from_ns(1'000'000'000);
};

}  // namespace sluice::bus
