// A request of the Open Inference Protocol (JSON, with or without binary tensors, or raw binary) into tensors in the
// arena: one copy from the body. Texts of errors are Triton's where it has one. Hostile bodies are refused: memory is
// bounded by the body's size and by limits here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "data/tensor.h"
#include "live/snapshot.h"

namespace sluice::gateway {

inline constexpr std::size_t kJsonDepthMax = 100;
inline constexpr std::size_t kJsonBytesMax = 64u << 20;        // of the JSON part of a request
inline constexpr std::size_t kJsonTensorBytesMax = 64u << 20;  // of one tensor that is sent as JSON

struct RequestedOutput {
  std::string name;
  std::optional<bool> binary;  // not said: as the request does by default
};

// How the caller wants its answer.
struct ResponseForm {
  std::string id;                        // echoed; empty: none
  std::uint32_t rows = 0;                // the batch dimension of inputs, which outputs get too; 0: there is none
  bool binary = false;                   // for outputs that do not say
  std::vector<RequestedOutput> outputs;  // empty: all
};

struct InferRequest {
  std::shared_ptr<data::Tensors> inputs;  // without batch dimension; of more than one row: stacked, with it
  std::optional<Duration> objective, timeout;
  std::uint8_t priority = 0;
  ResponseForm form;
};

struct InferBody {
  std::string_view bytes;                      // kBodyPadding bytes after it may be read
  std::optional<std::string_view> json_bytes;  // the header Inference-Header-Content-Length; "0": raw binary
};

// invalid: the text says what is wrong with the request; too_large: it never fits; unavailable: no room in the arena
// now. `arena` null: no room.
[[nodiscard]] Result<InferRequest> read_infer_request(const InferBody& body, const live::Model& model,
                                                      data::Arena* arena);

}  // namespace sluice::gateway
