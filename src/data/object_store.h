// ObjectStore: what requests brought along and what their stages left on this machine. Filled by the gateway and the
// invoker, read by both, emptied request by request. Any thread.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "data/tensor.h"
#include "domain/ids.h"
#include "domain/run_path.h"

namespace sluice::data {

// One object: all outputs of one invocation. The inputs of the request are those of no stage of outermost run 0.
struct ObjectKey {
  std::uint64_t outermost = 0;  // number of the run of the application's own workflow
  StageId stage;
  std::uint32_t item = 0;
  RunPath path = {};
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
  void visit(auto& archive) { archive(outermost, stage, item, path); }
};
inline constexpr std::uint64_t kRequestInputs = 0;

using SharedTensors = std::shared_ptr<const Tensors>;

class ObjectStore {
 public:
  // A request with its inputs; what is put for one that is not open, or not any more, is dropped.
  void open(RequestId request, SharedTensors inputs);
  // A request whose inputs are elsewhere; nothing happens if it is open.
  void expect(RequestId request);
  // A later object of the same key takes the place of the earlier one: a stage that ran twice.
  void put(RequestId request, const ObjectKey& key, SharedTensors tensors);
  // Null: not here.
  [[nodiscard]] SharedTensors get(RequestId request, const ObjectKey& key) const;
  // How many objects of a request are here; nothing: it is not open.
  [[nodiscard]] std::optional<std::size_t> held(RequestId request) const;
  void release(RequestId request);
  [[nodiscard]] std::size_t requests() const;

 private:
  using Objects = std::map<ObjectKey, SharedTensors>;
  mutable std::mutex mutex_;
  std::unordered_map<RequestId, Objects> objects_;
};

}  // namespace sluice::data
