// Tensors as bytes that can be kept and sent: what the journal holds as inputs and outputs, what travels between
// machines. First what they are, then their bytes in a row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "data/tensor.h"

namespace sluice::data {

[[nodiscard]] std::string to_blob(const Tensors& tensors);
// Takes any bytes: invalid if they are not tensors, unavailable if the arena has no room for them.
[[nodiscard]] Result<Tensors> from_blob(std::string_view blob, Arena& arena);

// The bytes of to_blob() part by part, without making all of them at once. The tensors live as long as this.
class BlobParts {
 public:
  explicit BlobParts(std::shared_ptr<const Tensors> tensors);
  [[nodiscard]] std::uint64_t size() const { return size_; }
  // At most `most` bytes, fewer at the end.
  [[nodiscard]] std::string part(std::uint64_t offset, std::size_t most) const;
  [[nodiscard]] const std::shared_ptr<const Tensors>& tensors() const { return tensors_; }

 private:
  std::shared_ptr<const Tensors> tensors_;
  std::string head_;  // what comes before the bytes of the tensors
  std::uint64_t size_ = 0;
};

}  // namespace sluice::data
