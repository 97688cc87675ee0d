// How value tables are built: backwards over the tree of the workflow, a stage at a time.
#include <algorithm>
#include <array>
#include <tuple>

#include "base/check.h"
#include "plan/value_noise.h"
#include "plan/value_table.h"

namespace sluice::plan {
namespace {

constexpr std::size_t kCellsMax = 1u << 24;  // 64 MB of rows
constexpr std::size_t kStepsMin = 32;
constexpr double kStepsDefault = 512;
constexpr std::size_t kBlock = 16;  // points or rows at a time: a fixed number, so that compilers use vectors

// Rows that the tables of a model have at one point of the grid, when no two candidates share one.
std::size_t cells_per_point(const WorkflowModel& model) {
  const std::vector<BatchCap> caps = model.batch_caps();
  std::size_t cells = 0;
  for (const ModelStage& stage : model.stages) {
    cells += 2 * caps.size();
    for (const Candidate& c : stage.candidates) {
      cells += static_cast<std::size_t>(caps.end() - std::lower_bound(caps.begin(), caps.end(), c.configuration.batch));
    }
  }
  return cells;
}

}  // namespace

class ValueBuilder {
 public:
  ValueBuilder(const WorkflowModel& model, const ValueOptions& options, ValueTable& out)
      : model_(model),
        options_(options),
        out_(out),
        miss_(static_cast<float>(options.miss_price)),
        drop_(static_cast<float>(std::max(options.miss_price, options.drop_price))) {
    CHECK(options.miss_price > 0 && options.horizon_ms > 0 && ValueTable::fits(model));
    const double step = options.step_ms > 0 ? options.step_ms : options.horizon_ms / kStepsDefault;
    const std::size_t affordable = std::max(kStepsMin, kCellsMax / cells_per_point(model));
    out_.steps_ = std::min(affordable, static_cast<std::size_t>(std::max(1.0, options.horizon_ms / step + 0.999999)));
    out_.step_ms_ = std::max(step, options.horizon_ms / static_cast<double>(out_.steps_));
    out_.drop_price_ = drop_;  // as stored, so that comparisons with it are exact
    out_.caps_ = model.batch_caps();
    region_child_.resize(model.tree.nodes.size());
    for (const SeriesParallelTree::Node& node : model.tree.nodes) {
      // A series takes its own stages one by one, but a series inside of it (a foreach body) as a whole.
      const bool region = node.kind == Kind::parallel || node.kind == Kind::irregular;
      for (const Index child : model.tree.children_of(node)) {
        region_child_[child] = region || model.tree.nodes[child].kind == Kind::series;
      }
    }
  }

  void run() {
    for (std::size_t s = 0; s < model_.stages.size(); ++s) {
      out_.stages_.push_back({.entries = {}, .levels = std::vector<ValueTable::Level>(out_.caps_.size())});
      add_rows(s);
    }
    for (std::size_t cap = 0; cap < out_.caps_.size(); ++cap) {
      alone_.assign(model_.tree.nodes.size(), {});
      for (Index i = 0; i < model_.tree.nodes.size(); ++i) summarise(i, cap);  // children come before their parents
      after_.assign(model_.tree.nodes.size(), {});
      after_[model_.tree.root()] = finished();
      for (Index i = model_.tree.root() + 1; i-- > 0;) keep(i, cap);
    }
  }

 private:
  using Kind = SeriesParallelTree::Kind;
  using Index = SeriesParallelTree::Index;
  using Curve = ValueTable::Curve;
  struct Row {
    std::uint32_t batch = 0;
    double ms = 0, sd_ms = 0;
    Dollars cost = 0;  // of the cheapest candidate that has it
    NoiseKernel kernel;
    std::ptrdiff_t straggler = 0;  // steps that a straggler takes
    std::vector<float> late;       // probability to be late for the very end, by point
    [[nodiscard]] auto key() const { return std::tuple(batch, ms, sd_ms); }
  };

  [[nodiscard]] Curve finished() const { return {std::vector<float>(out_.steps_ + 1, 0), miss_}; }
  // Nothing but giving up, however much time is left.
  [[nodiscard]] Curve given_up() const { return {std::vector<float>(out_.steps_ + 1, drop_), drop_}; }

  // The rows of a stage and which candidate has which.
  void add_rows(std::size_t index) {
    const ModelStage& stage = model_.stages[index];
    std::vector<Row> all;
    for (std::size_t i = 0; i < stage.candidates.size(); ++i) {
      const Candidate& c = stage.candidates[i];
      const StageTerms terms = stage.scale.of(c.ms, c.cost);
      const double relative = c.ms > 0 && i < stage.sd_ms.size() ? stage.sd_ms[i] / c.ms : 0;
      // Times do not become negative: a wide spread is cut at no time at all.
      const double sd = terms.ms * std::min(std::max(relative, options_.sigma_floor), 1 / kNoiseCut);
      all.push_back({c.configuration.batch, terms.ms + stage.wait_ms, sd, terms.cost, {}, {}});
    }
    std::vector<Row> rows = all;
    std::sort(rows.begin(), rows.end(),
              [](const Row& a, const Row& b) { return std::tuple(a.key(), a.cost) < std::tuple(b.key(), b.cost); });
    rows.erase(std::unique(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key() == b.key(); }),
               rows.end());
    const double horizon_ms = out_.step_ms_ * static_cast<double>(out_.steps_);
    std::erase_if(rows, [&](const Row& r) { return r.ms - kNoiseCut * r.sd_ms > horizon_ms; });
    for (const Row& row : all) {
      const auto it =
          std::lower_bound(rows.begin(), rows.end(), row, [](const Row& a, const Row& b) { return a.key() < b.key(); });
      const bool known = it != rows.end() && it->key() == row.key();
      out_.stages_[index].entries.push_back(
          {row.cost, known ? static_cast<std::uint32_t>(it - rows.begin()) : ValueTable::Decision::kHopeless});
    }
    for (Row& row : rows) {
      row.kernel = noise_kernel(row.ms / out_.step_ms_, row.sd_ms / out_.step_ms_);
      row.straggler = static_cast<std::ptrdiff_t>(row.ms * stage.stragglers.times / out_.step_ms_ + 0.5);
      row.late = lateness(row, stage.stragglers.share);
    }
    rows_.push_back(std::move(rows));
  }

  [[nodiscard]] std::vector<float> lateness(const Row& row, double stragglers) const {
    std::vector<float> out(out_.steps_ + 1);
    for (std::size_t k = 0; k < out.size(); ++k) {
      const double late = late_probability(out_.step_ms_ * static_cast<double>(k) - row.ms, row.sd_ms);
      const double straggler_late = static_cast<std::ptrdiff_t>(k) < row.straggler ? 1 : 0;
      out[k] = static_cast<float>(late + (straggler_late - late) * stragglers);
    }
    return out;
  }

  // `after` with enough constant points on both sides for any kernel.
  [[nodiscard]] std::vector<float> padded(const Curve& after) const {
    std::vector<float> out(pad(), after.at.front());
    out.insert(out.end(), after.at.begin(), after.at.end());
    out.resize(out.size() + pad() + kBlock, after.at.back());
    return out;
  }
  [[nodiscard]] std::size_t pad() const { return out_.steps_ + 1 + kBlock; }

  // E after(rest - time) for every time left. `after` jumps to `late` below 0; the jump is counted by its exact
  // probability, so that the grid does not blur it, and only what is continuous goes through the kernel. `stragglers`:
  // the share of executions that take as long as a straggler does instead.
  void expect(const Row& row, double stragglers, std::span<const float> after, float late,
              std::vector<float>& out) const {
    const auto points = static_cast<std::ptrdiff_t>(out.size()), room = static_cast<std::ptrdiff_t>(pad());
    constexpr auto kStep = static_cast<std::ptrdiff_t>(kBlock);
    const float jump = late - after[pad()];
    for (std::ptrdiff_t k = 0; k < points; k += kStep) {
      std::array<float, kBlock> sum{};
      if (k + kStep + row.kernel.last() <= 0) {
        sum.fill(after[pad()]);  // too little time left for any luck
      } else {
        std::ptrdiff_t offset = row.kernel.first;
        for (const float weight : row.kernel.weights) {
          const float* const taken = after.data() + room + std::clamp(k + offset, -room, points);
          for (std::size_t i = 0; i < kBlock; ++i) sum[i] += weight * taken[i];
          offset += row.kernel.stride;
        }
      }
      if (stragglers > 0) {
        const float* const taken = after.data() + room + std::clamp(k - row.straggler, -room, points);
        for (std::size_t i = 0; i < kBlock; ++i) sum[i] += (taken[i] - sum[i]) * static_cast<float>(stragglers);
      }
      const auto width = static_cast<std::size_t>(std::min(kStep, points - k));
      for (std::size_t i = 0; i < width; ++i) {
        const std::size_t point = static_cast<std::size_t>(k) + i;
        out[point] = sum[i] + jump * row.late[point];
      }
    }
  }

  // The value of a stage that is followed by `after`; `level`: where to keep it and its rows, if anywhere.
  [[nodiscard]] Curve stage_value(std::size_t index, std::size_t cap, const Curve& after, ValueTable::Level* level) {
    const std::size_t points = out_.steps_ + 1;
    const std::vector<float> wide = padded(after);
    const std::vector<Row>& rows = rows_[index];
    const auto beyond = std::find_if(rows.begin(), rows.end(), [&](const Row& r) { return r.batch > out_.caps_[cap]; });
    const auto count = static_cast<std::size_t>(beyond - rows.begin());
    Curve value = given_up();
    if (level != nullptr) {
      level->rows = static_cast<std::uint32_t>(count);
      level->cells.resize(count * points);
    }
    std::array<std::vector<float>, kBlock> block;
    block.fill(std::vector<float>(points));
    for (std::size_t first = 0; first < count; first += kBlock) {
      const std::size_t width = std::min(kBlock, count - first);
      for (std::size_t r = 0; r < width; ++r) {
        const Row& row = rows[first + r];
        expect(row, model_.stages[index].stragglers.share, wide, after.late, block[r]);
        out_.work_ += points * row.kernel.weights.size();
        const auto cost = static_cast<float>(row.cost);
        for (std::size_t k = 0; k < points; ++k) value.at[k] = std::min(value.at[k], cost + block[r][k]);
      }
      for (std::size_t k = 0; level != nullptr && k < points; ++k) {
        for (std::size_t r = 0; r < width; ++r) level->cells[k * count + first + r] = block[r][k];
      }
    }
    // What is late takes the cheapest way on, too slow for the horizon or not.
    for (std::size_t i = 0; i < model_.stages[index].candidates.size(); ++i) {
      if (model_.stages[index].candidates[i].configuration.batch > out_.caps_[cap]) continue;
      value.late = std::min(value.late, static_cast<float>(out_.stages_[index].entries[i].cost) + after.late);
    }
    if (level != nullptr) {
      level->value = value;
      level->after = after;
      level->late.assign(count, after.late);
    }
    return value;
  }

  // What a stage is worth to its predecessor, which does not know yet how long it will wait for it.
  [[nodiscard]] Curve delayed(const Curve& value) const {
    const double steps = options_.per_stage_overhead_ms / out_.step_ms_;
    if (steps <= 0) return value;
    const std::vector<float>& at = value.at;
    Curve out{std::vector<float>(at.size(), value.late), value.late};
    const auto whole = static_cast<std::size_t>(std::min(steps, static_cast<double>(at.size())));
    const auto part = static_cast<float>(steps - static_cast<double>(whole));
    for (std::size_t k = whole; k < at.size(); ++k) {
      const float before = k == whole ? value.late : at[k - whole - 1];
      out.at[k] = part > 0 ? at[k - whole] + (before - at[k - whole]) * part : at[k - whole];
    }
    return out;
  }

  // The best split of the time between `first`, which is given a fixed part of it, and `then`. Where no split is good,
  // `first` takes its time and `then` is late; its lateness counts once.
  [[nodiscard]] Curve split(const Curve& first, const Curve& then) const {
    const std::size_t points = first.at.size();
    const float late = std::min(drop_, first.late - miss_ + then.late);
    Curve out{std::vector<float>(points, late), late};
    for (std::size_t given = 0; given < points; ++given) {
      for (std::size_t k = given; k < points; ++k)
        out.at[k] = std::min(out.at[k], first.at[given] + then.at[k - given]);
    }
    return out;
  }

  // All children within the same time, `needed` of them counting as misses when late.
  [[nodiscard]] Curve together(std::span<const Index> children, std::size_t needed) const {
    Curve out = given_up();
    std::vector<float> hurry(children.size());
    float late = miss_;  // once, and the cheapest way on of every child
    for (const Index child : children) late += alone_[child].late - miss_;
    out.late = std::min(drop_, late);
    for (std::size_t k = 0; k < out.at.size(); ++k) {
      float sum = 0;
      for (std::size_t c = 0; c < children.size(); ++c) {
        const std::vector<float>& child = alone_[children[c]].at;
        sum += child.back();
        hurry[c] = child[k] - child.back();
      }
      std::sort(hurry.begin(), hurry.end());
      for (std::size_t c = 0; c < std::min(needed, hurry.size()); ++c) sum += hurry[c];
      out.at[k] = std::min(out.late, sum);
    }
    return out;
  }

  // The children of an irregular region by the longest way to them.
  [[nodiscard]] std::vector<std::vector<Index>> levels(const SeriesParallelTree::Node& node) const {
    const auto children = model_.tree.children_of(node);
    std::vector<std::size_t> level(children.size());
    for (const auto& edge : model_.tree.edges_of(node)) level[edge.to] = std::max(level[edge.to], level[edge.from] + 1);
    std::vector<std::vector<Index>> out;
    for (std::size_t c = 0; c < children.size(); ++c) {
      if (level[c] >= out.size()) out.resize(level[c] + 1);
      out[level[c]].push_back(children[c]);
    }
    return out;
  }

  // What a part that is not a stage is worth when `after` follows; stages in it were summarised before.
  [[nodiscard]] Curve followed(Index index, const Curve& after) const {
    return model_.tree.nodes[index].kind == Kind::empty ? after : split(alone_[index], after);
  }

  // `alone_`: a part of the workflow as if the deadline were at its end, where its parent asks for it.
  void summarise(Index index, std::size_t cap) {
    const SeriesParallelTree::Node& node = model_.tree.nodes[index];
    const auto children = model_.tree.children_of(node);
    switch (node.kind) {
      case Kind::empty:
        alone_[index] = finished();
        break;
      case Kind::stage:
        if (region_child_[index]) alone_[index] = delayed(stage_value(node.stage, cap, finished(), nullptr));
        break;
      case Kind::series: {
        if (!region_child_[index]) break;
        Curve rest = finished();
        for (std::size_t c = children.size(); c-- > 0;) {
          const SeriesParallelTree::Node& child = model_.tree.nodes[children[c]];
          rest = child.kind == Kind::stage ? delayed(stage_value(child.stage, cap, rest, nullptr))
                                           : followed(children[c], rest);
        }
        alone_[index] = std::move(rest);
        break;
      }
      case Kind::parallel:
        alone_[index] = together(children, node.needed);
        break;
      case Kind::irregular: {
        Curve rest = finished();
        const auto all = levels(node);
        for (std::size_t l = all.size(); l-- > 0;) rest = split(together(all[l], all[l].size()), rest);
        alone_[index] = std::move(rest);
        break;
      }
    }
  }

  // Fills the tables of the stages of a part; `after_` of the part is known, since its parent was kept before.
  void keep(Index index, std::size_t cap) {
    const SeriesParallelTree::Node& node = model_.tree.nodes[index];
    const auto children = model_.tree.children_of(node);
    Curve rest = std::move(after_[index]);
    if (rest.at.empty()) return;  // kept with its series, or not part of the tree
    switch (node.kind) {
      case Kind::empty:
        break;
      case Kind::stage:
        (void)stage_value(node.stage, cap, rest, &out_.stages_[node.stage].levels[cap]);
        break;
      case Kind::series:
        for (std::size_t c = children.size(); c-- > 0;) {
          const SeriesParallelTree::Node& child = model_.tree.nodes[children[c]];
          if (child.kind == Kind::stage) {
            rest = delayed(stage_value(child.stage, cap, rest, &out_.stages_[child.stage].levels[cap]));
          } else {
            after_[children[c]] = rest;
            rest = followed(children[c], rest);
          }
        }
        break;
      case Kind::parallel:
        for (const Index child : children) after_[child] = rest;
        break;
      case Kind::irregular: {
        const auto all = levels(node);
        for (std::size_t l = all.size(); l-- > 0;) {
          for (const Index child : all[l]) after_[child] = rest;
          rest = split(together(all[l], all[l].size()), rest);
        }
        break;
      }
    }
  }

  const WorkflowModel& model_;
  const ValueOptions& options_;
  ValueTable& out_;
  float miss_, drop_;
  std::vector<std::vector<Row>> rows_;  // by stage
  std::vector<bool> region_child_;      // by node: its parent asks for it as a whole
  std::vector<Curve> alone_, after_;    // by node, of the cap at hand
};

bool ValueTable::fits(const WorkflowModel& model) {
  return cells_per_point(model) <= 4 * kCellsMax / kStepsMin;
}

ValueTable ValueTable::build(const WorkflowModel& model, const ValueOptions& options) {
  ValueTable out;
  ValueBuilder(model, options, out).run();
  return out;
}

}  // namespace sluice::plan
