// Whatever the bytes are: read or refused with a reason, never both and never a crash.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "spec/triton/pbtxt_reader.h"
#include "spec/triton/triton.h"

using namespace sluice;
using namespace sluice::spec;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics out;
  const auto node = read_pbtxt(text, "fuzz.pbtxt", out);
  CHECK(node.has_value() == !out.has_errors());
  if (!node) return 0;

  const TritonSource source{.file = "fuzz.pbtxt", .name = "fuzz"};
  const auto models = triton_models(*node);
  Diagnostics of_ensemble, of_model;
  const auto ensemble = read_triton(*node, source, of_ensemble);
  CHECK(ensemble.has_value() == !of_ensemble.has_errors());
  CHECK(!ensemble || ensemble->draft.functions.size() == models.size());
  const auto function = read_triton_model(*node, source, of_model);
  CHECK(function.has_value() == !of_model.has_errors());
  for (const Diagnostic& diagnostic : of_ensemble.sorted()) CHECK(!to_string(diagnostic).empty());
  return 0;
}
