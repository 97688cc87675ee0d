// Torch on a GPU, compiled into `sluice-torch.so` where libtorch has CUDA. A batch runs in the slices it was given, by
// the thread that belongs to them, as one CUDA graph for every number of rows and shape: a graph makes a slice
// predictable, and launches of single kernels from several threads get in each other's way.
#include "engine/torch_graph.h"
#include "engine/torch_tune.h"

#include <ATen/Parallel.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>
#include <vector>

#include "base/text.h"
#include "engine/model_file.h"
#include "engine/torch_entry.h"

namespace sluice::engine {
namespace {

class TorchCudaEngine : public Engine {
 public:
  ~TorchCudaEngine() override {
    if (gpu_ == nullptr) return;
    const std::unique_lock alone(gpu_->quiet);
    (void)gpu_->enter();
    graphs_.clear();
    tuned_ = {};
    empty_cache();
    if (allowed_) allow(std::nullopt);
  }

  Status load(const Function& function, const Body& body, const LoadInto& into) override {
    call_ = TorchCall(function.inputs, function.outputs);
    const auto gpu = cuda::shared_gpu(*into.gpu);
    if (!gpu) return gpu.error();
    gpu_ = *gpu;
    if (const Status entered = gpu_->enter(); !entered) return entered;
    Status loaded = Done{};
    try {
      const c10::InferenceMode inference;
      at::set_num_threads(static_cast<int>(into.threads));  // folding is many small things: more threads take longer
      ModelFile file(body.model, into.model);
      if (!file) return Error{ErrorCode::not_found, str("model `", shown_name(body.model), "` cannot be read")};
      torch::jit::Module frozen = read_frozen(file.stream());
      allow(Allowed{into.memory});
      auto made = tuned(*gpu_, frozen, call_, body.form, into.memory);
      if (made) {
        tuned_ = std::move(*made);
        share_ = into.memory ? Allowed(*into.memory - on_gpu().memory) : std::nullopt;
        allow(share_);
      } else {
        loaded = Error{made.error().code, str("model `", shown_name(body.model), "`: ", made.error().message)};
      }
    } catch (const std::exception& exception) {
      loaded = Error{ErrorCode::invalid, str("model `", shown_name(body.model),
                                             "` cannot be loaded as TorchScript: ", torch_error(exception).message)};
    }
    const auto stream = gpu_->slices->for_loads();
    if (!loaded && stream) cuda::end_if_broken(*gpu_, (*stream)->stream);
    return loaded;
  }

  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool keeps() const override { return true; }

  [[nodiscard]] OnGpu on_gpu() const override {
    GpuForm form = form_of(tuned_.model->form());
    form.rows_apart = tuned_.rows_apart;
    form.checked = tuned_.checked;
    return {.form = form, .memory = Bytes(static_cast<std::int64_t>(tuned_.model->weight_bytes()))};
  }

  Status move(Level level) override {
    const std::unique_lock no_batches(moving_);
    const std::shared_lock others(gpu_->quiet);
    if (const Status entered = gpu_->enter(); !entered) return entered;
    if (level == Level::device) {
      const Status back = tuned_.model->come_back();
      if (back) allow(share_);
      return back;
    }
    tuned_.model->leave();
    empty_cache();
    allow(std::nullopt);  // its memory is booked for others now
    return Done{};
  }

  // After an error nothing of the batch is left on the device: its slices and its memory are given to others.
  Result<Outputs> run(const Batch& batch, BatchContext& context) override {
    if (batch.positions.slices == 0) return Error{ErrorCode::invalid, "a batch on a GPU has slices"};
    const c10::InferenceMode inference;
    const std::shared_lock stays(moving_);
    if (!tuned_.model->is_there()) return Error{ErrorCode::invalid, "its weights are not on the device"};
    const auto lane = TorchLane::of_this_thread(*gpu_, batch.positions.slices);
    if (!lane) return lane.error();
    Result<Outputs> out = Error{};
    try {
      torch::jit::setGraphExecutorOptimize(false);
      out = run_in(batch, **lane, context);
      if (out) count_graphs(out->graphs);
    } catch (const std::exception& exception) {
      out = torch_error(exception);
    }
    if (!out && out.error().code == ErrorCode::too_large) out = out_of_memory();
    if (!out) cuda::end_if_broken(*gpu_, (*lane)->lane.stream());
    return out;
  }

 private:
  using Key = std::pair<std::uint64_t, InputShapes>;  // position
  using Allowed = std::optional<Bytes>;               // none: no limit
  struct Known {
    std::unique_ptr<TorchGraph> graph;
    std::uint64_t used = 0;
  };
  static constexpr std::size_t kShapesMax = 4;    // of rows, at a position
  static constexpr std::size_t kGraphsMax = 16;   // at a position: numbers of rows and shapes
  static constexpr std::size_t kKeysMax = 1'000;  // that are remembered without a graph
  static constexpr double kSpare = 0.02;          // of a GPU, for what libraries take: nobody booked it
  static constexpr std::uint64_t kIdle = 1'000;   // runs since which one was not used that makes room for another

  Result<Outputs> run_in(const Batch& batch, TorchLane& lane, BatchContext& context) {
    const bool whole = capturable_ && !(tuned_.rows_apart && batch.rows > 1);
    const auto shapes = whole ? shapes_of(batch, call_.inputs()) : std::nullopt;
    if (!shapes) return run_eagerly(batch, lane, context, false);
    const Key key{batch.positions.slices, *shapes};
    if (TorchGraph* known = find(key)) return known->replay(batch, lane, context);
    // The first answer is there soonest without a graph.
    if (!seen_before(key)) return run_eagerly(batch, lane, context, true);
    if (!has_room(key)) return run_eagerly(batch, lane, context, false);
    return capture(key, batch, lane, context);
  }

  TorchGraph* find(const Key& key) {
    const std::lock_guard lock(mutex_);
    ++runs_;
    const auto it = graphs_.find(key);
    if (it == graphs_.end()) return nullptr;
    it->second.used = runs_;
    return it->second.graph.get();
  }

  bool seen_before(const Key& key) {
    const std::lock_guard lock(mutex_);
    if (refused_.contains(key)) return false;
    if (seen_.size() > kKeysMax) seen_.clear();
    return !seen_.insert(key).second;
  }

  // `soon`: the next one like it will be recorded.
  Result<Outputs> run_eagerly(const Batch& batch, TorchLane& lane, BatchContext& context, bool soon) {
    std::vector<TorchOutput> outputs;
    {
      const std::shared_lock others(gpu_->quiet);
      auto inputs = torch_inputs(batch);
      if (!inputs) return inputs.error();
      for (TorchInput& input : *inputs) to_device(input, batch.rows);
      if (const Status begun = lane.lane.begin(); !begun) return begun.error();
      if (const Status ran = tuned_.model->forward(*inputs, batch.rows, outputs); !ran) return ran.error();
      if (const Status ended = lane.lane.end(); !ended) return ended.error();
    }
    auto out = copied(outputs, lane, {.keep = batch.keep}, context);  // may wait for the server: others go on
    if (out) out->first = soon;
    return out;
  }

  void to_device(TorchInput& input, std::uint32_t rows) const {
    if (tuned_.rows_apart && input.stacked.defined()) {
      input.rows.clear();
      for (std::uint32_t row = 0; row < rows; ++row) input.rows.push_back(input.stacked.select(0, row));
      input.stacked = at::Tensor();
    }
    if (input.stacked.defined()) input.stacked = input.stacked.to(tuned_.model->device());
    for (at::Tensor& row : input.rows) {
      if (row.defined()) row = row.to(tuned_.model->device());
    }
  }

  Result<Outputs> capture(const Key& key, const Batch& batch, TorchLane& lane, BatchContext& context) {
    TorchGraph* graph = nullptr;
    bool failed = false;
    {
      const std::unique_lock alone(gpu_->quiet);
      const auto fill = [&](const std::vector<TorchInput>& inputs) { return copy_in(batch, inputs, lane.lane); };
      try {
        auto made = TorchGraph::capture(*tuned_.model, key.second, batch.rows, fill, lane);
        failed = !made;
        if (made && *made != nullptr) graph = keep(key, std::move(*made));
      } catch (const c10::OutOfMemoryError& exception) {
        (void)torch_error(exception);
        failed = true;
      }
      empty_cache();  // of the runs before
    }
    if (graph == nullptr) return run_instead(key, batch, lane, context, failed);
    auto out = graph->replay(batch, lane, context);
    if (out) out->first = out->graphs.captured = true;
    return out;
  }

  // `failed`: this time, or for want of memory; else the model cannot be recorded at all.
  Result<Outputs> run_instead(const Key& key, const Batch& batch, TorchLane& lane, BatchContext& context, bool failed) {
    if (!failed) {
      capturable_ = false;
      std::fprintf(stderr, "the model cannot be recorded as a CUDA graph: it runs kernel by kernel\n");
    }
    auto out = run_eagerly(batch, lane, context, true);
    if (out && failed) {  // a batch that fails in both ways is to blame itself
      const std::lock_guard lock(mutex_);
      if (refused_.size() > kKeysMax) refused_.clear();
      refused_.insert(key);
    }
    return out;
  }

  TorchGraph* keep(const Key& key, std::unique_ptr<TorchGraph> graph) {
    const std::lock_guard lock(mutex_);
    forget_for(key);
    Known& known = graphs_[key];
    known = {std::move(graph), runs_};
    return known.graph.get();
  }

  // How many rows is not part of a shape: what the scheduler may choose is kept.
  static InputShapes of_a_row(InputShapes shapes) {
    for (InputShape& input : shapes) {
      if (!input.shape.empty()) input.shape.front() = 0;
    }
    return shapes;
  }

  // What would have to go for a graph, of the same position. REQUIRES: mutex_ is held.
  [[nodiscard]] std::vector<Key> in_the_way(const Key& wanted) const {
    std::map<InputShapes, std::uint64_t> last;
    const Key* oldest = nullptr;
    std::size_t count = 0;
    for (const auto& [key, known] : graphs_) {
      if (key.first != wanted.first) continue;
      ++count;
      std::uint64_t& used = last[of_a_row(key.second)];
      used = std::max(used, known.used);
      if (oldest == nullptr || known.used < graphs_.at(*oldest).used) oldest = &key;
    }
    std::vector<Key> out;
    if (!last.contains(of_a_row(wanted.second)) && last.size() >= kShapesMax) {
      const auto shape = std::ranges::min_element(last, {}, [](const auto& entry) { return entry.second; });
      for (const auto& [key, known] : graphs_) {
        if (key.first == wanted.first && of_a_row(key.second) == shape->first) out.push_back(key);
      }
    } else if (count >= kGraphsMax) {
      out.push_back(*oldest);
    }
    return out;
  }

  // Many shapes in turn would otherwise be recorded again and again.
  bool has_room(const Key& wanted) {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(in_the_way(wanted),
                               [&](const Key& key) { return runs_ - graphs_.at(key).used >= kIdle; });
  }

  void forget_for(const Key& wanted) {
    for (const Key& key : in_the_way(wanted)) graphs_.erase(key);
  }

  void count_graphs(GraphUse& out) {
    const std::lock_guard lock(mutex_);
    out.kept = static_cast<std::uint32_t>(graphs_.size());
    out.never = !capturable_;
  }

  // What this function adds to what all of them may take; nothing: it goes.
  void allow(std::optional<Allowed> allowed) {
    if (allowed_) gpu_->allowance.remove(*allowed_);
    allowed_ = std::move(allowed);
    if (allowed_) gpu_->allowance.add(*allowed_);
    const auto most = gpu_->allowance.most();
    const double part =
        most ? kSpare + static_cast<double>(most->count()) / static_cast<double>(gpu_->memory.count()) : 1;
    try {
      c10::cuda::CUDACachingAllocator::setMemoryFraction(std::min(part, 1.0),
                                                         static_cast<c10::DeviceIndex>(gpu_->number));
    } catch (const std::exception&) {  // nothing has used the GPU yet: it is said again when the function is there
    }
  }
  [[nodiscard]] Error out_of_memory() const {
    const auto most = gpu_->allowance.most();
    return {ErrorCode::too_large, str("OutOfMemory: activations and graphs of this tenant's functions may take ",
                                      most ? cuda::in_megabytes(*most) : "all there is",
                                      " of the GPU besides weights: more `memory:`, or smaller batches")};
  }

  static void empty_cache() {
    try {
      c10::cuda::CUDACachingAllocator::emptyCache();
    } catch (const std::exception& exception) {
      (void)torch_error(exception);
    }
  }

  TorchCall call_;
  cuda::SharedGpu* gpu_ = nullptr;
  Tuned tuned_;
  Allowed share_;                   // besides its weights, while it is on the device
  std::optional<Allowed> allowed_;  // of all functions: nothing while it is not
  std::shared_mutex moving_;        // alone: no batch is under way
  std::atomic<bool> capturable_ = true;
  std::mutex mutex_;
  std::map<Key, Known> graphs_;   // guarded by mutex_; a graph is used by the thread of its position alone
  std::set<Key> seen_, refused_;  // guarded by mutex_
  std::uint64_t runs_ = 0;        // guarded by mutex_
};

}  // namespace
}  // namespace sluice::engine

sluice::engine::Engine* sluice_make_torch_cuda_engine() {
  return std::make_unique<sluice::engine::TorchCudaEngine>().release();
}
