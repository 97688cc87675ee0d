// Sample: what a function is tried and measured with instead of inputs that are made up: what its document gives, or
// what its first request brought. Used by Deployments and Profiling.
#pragma once
#include <cstddef>
#include <string>

#include "base/result.h"
#include "data/tensor.h"
#include "domain/function.h"

namespace sluice::live {

class Sample {
 public:
  // `json`: an object with a value for each input by name, as a document's `sample:` has it.
  [[nodiscard]] static Sample of_document(std::string json) { return Sample(std::move(json), false); }
  // `inputs`: as data::to_blob() writes them.
  [[nodiscard]] static Sample of_request(std::string inputs) { return Sample(std::move(inputs), true); }

  [[nodiscard]] std::size_t bytes() const { return text_.size(); }
  // One row of inputs: of the types that the function declares, else as their values are.
  [[nodiscard]] Result<data::Tensors> place(const Function& function, data::Arena& arena) const;

 private:
  Sample(std::string text, bool is_blob) : text_(std::move(text)), is_blob_(is_blob) {}

  std::string text_;
  bool is_blob_;
};

}  // namespace sluice::live
