// Models, bodies and tensors for the gateway's tests.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/tensor.h"
#include "gateway/exchange.h"
#include "live/snapshot.h"

namespace sluice::gateway {

inline live::Model a_model(std::string name, std::vector<Port> inputs, std::vector<Port> outputs = {}) {
  live::Model model;
  model.name = std::move(name);
  model.inputs = std::move(inputs);
  model.outputs = std::move(outputs);
  return model;
}

inline Port port(std::string name, DataType type, std::vector<std::int64_t> shape) {
  return {.name = std::move(name), .type = type, .shape = std::move(shape), .bytes = {}};
}

inline std::shared_ptr<data::Arena> an_arena(std::int64_t bytes = 1 << 20) {
  return data::Arena::make(Bytes(bytes)).value();
}

// A body with the bytes behind it that simdjson wants.
class Padded {
 public:
  explicit Padded(std::string_view text) : size_(text.size()), bytes_(std::string(text)) {
    bytes_.append(kBodyPadding, '\0');
  }
  [[nodiscard]] std::string_view view() const { return {bytes_.data(), size_}; }

 private:
  std::size_t size_;
  std::string bytes_;
};

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

inline std::string raw_text(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) {
    const auto length = static_cast<std::uint32_t>(text.size());
    out.append(reinterpret_cast<const char*>(&length), sizeof length);
    out += text;
  }
  return out;
}

inline data::Tensor a_tensor(data::Arena& arena, std::string name, DataType type, std::vector<std::int64_t> shape,
                             std::string_view bytes) {
  data::Tensor tensor{.info = {.name = std::move(name), .type = type, .shape = std::move(shape)},
                      .block = arena.allocate(bytes.size()).value(),
                      .offset = 0,
                      .size = bytes.size()};
  if (!bytes.empty()) std::memcpy(tensor.bytes().data(), bytes.data(), bytes.size());
  return tensor;
}

inline std::string bytes_of(const data::Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.size};
}

}  // namespace sluice::gateway
