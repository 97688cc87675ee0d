// Whatever the bytes are: an inference request becomes tensors that hold what they say, or is refused with a reason.
// The first two bytes choose the model and where the JSON ends; what was read can be answered with. The same bytes as a
// deployment are read or refused as well.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "gateway/deployment.h"
#include "gateway/exchange.h"
#include "gateway/oip_request.h"
#include "gateway/oip_response.h"

using namespace sluice;
using namespace sluice::gateway;

namespace {

std::vector<live::Model> models() {
  std::vector<live::Model> list(3);
  for (live::Model& model : list) model.name = "m";
  list[1].inputs = {{.name = "a", .type = DataType::fp32, .shape = {2, -1}, .bytes = {}}};
  list[2].inputs = {{.name = "a", .type = DataType::bytes, .shape = {1}, .bytes = {}},
                    {.name = "b", .type = DataType::uint8, .shape = {}, .bytes = {}}};
  return list;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<live::Model> kModels = models();
  static const auto kArena = data::Arena::make(Bytes(1 << 20)).value();
  if (size < 2) return 0;
  const live::Model& model = kModels[data[0] % kModels.size()];
  std::string bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t length = bytes.size();
  bytes.append(kBodyPadding, 'x');
  const std::string header = std::to_string(static_cast<int>(data[1]) - 1);
  InferBody body{.bytes = {bytes.data(), length}, .json_bytes = header};
  if (data[1] == 0xFF) body.json_bytes = std::nullopt;
  if (const auto deployment = read_deployment(body.bytes); !deployment) CHECK(!deployment.error().message.empty());
  const auto request = read_infer_request(body, model, kArena.get());
  if (!request) {
    CHECK(!request.error().message.empty());
    return 0;
  }
  for (const data::Tensor& tensor : *request->inputs) CHECK(data::well_formed(tensor.info, tensor.bytes()));
  const auto response = write_infer_response({model.name, 1}, request->form, *request->inputs);
  CHECK(response.ok() || !response.error().message.empty());
  return 0;
}
