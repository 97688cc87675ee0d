// Tensors as text, for expectations.
#pragma once
#include <cstring>
#include <string>

#include "base/text.h"
#include "data/tensor.h"

namespace sluice::test {

// As "[2,3]".
inline std::string shape_text(const data::Tensor& tensor) {
  std::string out = "[";
  for (std::size_t i = 0; i < tensor.info.shape.size(); ++i) out += str(i == 0 ? "" : ",", tensor.info.shape[i]);
  return out + "]";
}

// Of type fp32, as " 1 2.5".
inline std::string numbers_text(const data::Tensor& tensor) {
  std::string out;
  for (std::size_t at = 0; at < tensor.size; at += sizeof(float)) {
    float number = 0;
    std::memcpy(&number, tensor.bytes().data() + at, sizeof number);
    out += str(" ", number);
  }
  return out;
}

}  // namespace sluice::test
