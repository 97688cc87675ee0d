// RowCalls: the calls of one inference request that brought several rows. Every row is a request of its own to the
// platform; here their answers come together again. Used by infer.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "data/tensor.h"
#include "live/service.h"

namespace sluice::gateway {

// The inputs of each row. Bytes are shared with the stacked tensors, nothing is copied.
// REQUIRES: the first dimension of all of them is `rows`, and they are well formed.
[[nodiscard]] std::vector<live::SharedInputs> split_rows(const data::Tensors& stacked, std::uint32_t rows);

// Any thread.
class RowCalls : public std::enable_shared_from_this<RowCalls> {
 public:
  struct Outcome {
    live::Answer answer;                 // of the first row, or of the one that has no result
    std::vector<data::Tensors> further;  // outputs of the rows after the first
    std::optional<std::size_t> failed;   // the row that has no result
    RequestId first;                     // of row 0; those of the other rows follow
  };
  struct Listeners {
    std::function<void(const live::Answer&)> row;  // every answer, as it comes
    std::function<void(Outcome)> all;              // once: all rows have a result, or the first one has none
  };
  // `service` must outlive it.
  RowCalls(live::Service& service, Principal principal, std::size_t rows, Listeners listeners);

  // REQUIRES: called once, with the rows that it was made for.
  void call(live::Call call, std::vector<live::SharedInputs> rows);
  // All rows that are not answered yet.
  void cancel();

 private:
  void take(std::size_t row, live::Answer answer);

  live::Service& service_;
  const Principal principal_;
  const Listeners listeners_;
  std::mutex mutex_;  // guards all that follows
  std::vector<std::optional<live::Answer>> answers_;
  std::size_t missing_;
  bool over_ = false;               // listeners_.all was called, or is about to be
  std::optional<RequestId> first_;  // once they are called
};

}  // namespace sluice::gateway
