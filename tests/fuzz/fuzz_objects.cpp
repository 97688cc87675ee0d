// Whatever another machine says about objects: it is understood or refused, what is understood is written as the same
// bytes again, and neither a fetch that is under way nor what is served suffers from it. The bytes are frames, each
// after its length in two bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "bus/object_exchange.h"

using namespace sluice;

namespace {

class Line : public bus::Transport {
 public:
  void send(std::string frame) override { CHECK(bus::decode_object_message(frame).ok()); }
  [[nodiscard]] bool receive(std::string& frame) override {
    if (arriving.empty()) return false;
    frame = std::move(arriving.front());
    arriving.pop_front();
    return true;
  }
  std::deque<std::string> arriving;
};

std::deque<std::string> frames_of(std::string_view bytes) {
  std::deque<std::string> out;
  while (bytes.size() >= 2) {
    const std::size_t length = static_cast<unsigned char>(bytes[0]) + 256u * static_cast<unsigned char>(bytes[1]);
    out.emplace_back(bytes.substr(2, length));
    bytes.remove_prefix(std::min(bytes.size(), length + 2));
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::shared_ptr<data::Arena> arena = data::Arena::make(Bytes(1 << 16)).value();
  constexpr RequestId kRequest(1);
  const data::ObjectKey key{.outermost = 7, .stage = StageId(3)};
  data::ObjectStore store;
  store.expect(kRequest);
  const data::Tensor x{.info = {"x", DataType::uint8, {200}}, .block = *arena->allocate(200), .size = 200};
  store.put(kRequest, key, std::make_shared<const data::Tensors>(data::Tensors{x}));

  Line line;
  bus::ObjectExchange exchange(store,
                               {.here = {InvokerId(0)}, .epoch = 0, .bytes_max = 4'096, .requests_asked_max = 4});
  exchange.connect(InvokerId(1), line);
  int told = 0;
  const InvokerId places[] = {InvokerId(1)};
  (void)exchange.fetch({kRequest, {.outermost = 7, .stage = StageId(4)}}, places, arena,
                       [&](const bus::Fetched&) { ++told; });
  line.arriving = frames_of({reinterpret_cast<const char*>(data), size});
  for (const std::string& frame : line.arriving) {
    const auto message = bus::decode_object_message(frame);
    CHECK(!message || bus::encode(*message) == frame);
  }
  Time now = Time::from_ns(1);
  for (int quiet = 0; quiet < 5; ++quiet) {
    if (!line.arriving.empty()) quiet = 0;
    exchange.work(now);
    now = now + Duration::ms(1'500);
  }
  CHECK(told == 1);
  return 0;
}
