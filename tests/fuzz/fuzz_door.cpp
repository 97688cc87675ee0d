// Whatever frames arrive at either end of a door: they are decoded to what encodes to the same bytes, or count as lost;
// the scheduler's driver is offered no request that it has already, a gateway hears of none that it did not offer and
// of each once, and both go on.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "bus/machine.h"
#include "bus/porter.h"
#include "bus/remote_door.h"

using namespace sluice;

namespace {

constexpr int kTurnsMax = 200;

void round_trips(std::string_view bytes) {
  if (const auto frame = bus::decode_from_gateway(bytes)) CHECK(bus::encode(*frame).value() == bytes);
  if (const auto frame = bus::decode_to_gateway(bytes)) CHECK(bus::encode(*frame).value() == bytes);
}

// The driver: keeps what it is offered until it answers.
class Driver final : public bus::Door {
 public:
  [[nodiscard]] bool offer(std::span<bus::Arrival> arrivals, bus::Gateway& from) override {
    if (full) return false;
    for (const bus::Arrival& arrival : arrivals) CHECK(inside.emplace(arrival.request, &from).second);
    return true;
  }
  void cancel(RequestId request) override { cancelled.insert(request); }
  void taken(bus::AnswerTaken taken) override { untaken.erase(taken.request); }
  void answer(bus::Answered answered) {
    const auto node = inside.extract(answered.request);
    if (node.empty()) return;
    const RequestId request = answered.request;
    if (!node.mapped()->answered(std::move(answered))) untaken.insert(request);
  }
  void move_first() {
    if (inside.empty()) return;
    const auto node = inside.extract(inside.begin());
    node.mapped()->moved({.request = node.key(), .verdicts = {}, .fan_outs = {}, .error = {}});
  }
  std::map<RequestId, bus::Gateway*> inside;
  std::set<RequestId> cancelled, untaken;
  bool full = false;
};

class Caller final : public bus::Gateway {
 public:
  [[nodiscard]] std::optional<bus::AnswerTaken> answered(bus::Answered answered) override {
    CHECK(waiting.erase(answered.request) == 1);
    if (later) return std::nullopt;
    return bus::AnswerTaken{.request = answered.request, .error = {}};
  }
  void settle() override {}
  void moved(bus::Arrival arrival) override { CHECK(waiting.erase(arrival.request) == 1); }
  std::set<RequestId> waiting;
  bool later = false;
};

class Talk {
 public:
  explicit Talk(FuzzedDataProvider& data) : data_(data) {}

  void go_on() {
    for (int turn = 0; turn < kTurnsMax && data_.remaining_bytes() > 0; ++turn) {
      now_ = now_ + Duration::ms(data_.ConsumeIntegralInRange<int>(0, 2000));
      step();
      door_.work(now_);
      porter_.work(now_);
    }
  }

 private:
  void step() {
    switch (data_.ConsumeIntegralInRange<int>(0, 10)) {
      case 0:
        return to_porter_.put(data_.ConsumeRandomLengthString(200));
      case 1:
        return to_door_.put(data_.ConsumeRandomLengthString(200));
      case 2:
        return put(to_porter_, frame<bus::FromGateway>([&] { return item_from_gateway(); }));
      case 3:
        return put(to_door_, frame<bus::ToGateway>([&] { return item_to_gateway(); }));
      case 4:
        return offer();
      case 5:
        return door_.cancel(request());
      case 6:
        return driver_.answer(answered());
      case 7:
        return driver_.move_first();
      case 8:
        return door_.taken({.request = request(), .error = {}});
      case 9:
        driver_.full = data_.ConsumeBool();
        caller_.later = data_.ConsumeBool();
        return;
      default:  // what is on its way is lost
        return (data_.ConsumeBool() ? to_porter_ : to_door_).drop_all();
    }
  }
  void offer() {
    bus::Arrival arrival = an_arrival();
    arrival.request = RequestId(next_++);
    caller_.waiting.insert(arrival.request);
    if (!door_.offer({&arrival, 1}, caller_)) caller_.waiting.erase(arrival.request);
  }
  RequestId request() { return RequestId(data_.ConsumeIntegralInRange<std::uint64_t>(0, 8)); }
  std::uint64_t number() {
    return data_.ConsumeBool() ? data_.ConsumeIntegralInRange<std::uint64_t>(0, 8)
                               : data_.ConsumeIntegral<std::uint64_t>();
  }
  template <class Item, class Make>
  bus::Frame<Item> frame(const Make& make) {
    bus::Frame<Item> out{.session = {number(), number()}, .at = now_, .rejoin = data_.ConsumeBool()};
    if (data_.ConsumeBool()) out.session = {1, door_.sessions()};
    out.acknowledged = number();
    out.sent = number();
    for (int i = data_.ConsumeIntegralInRange<int>(0, 3); i > 0; --i) out.items.push_back(make());
    return out;
  }
  template <class Item>
  void put(bus::Wire& wire, const bus::Frame<Item>& frame) {
    wire.put(bus::encode(frame).value());
  }
  bus::Arrival an_arrival() {
    bus::Arrival out{
        .request = request(), .application = ApplicationId(1), .verdicts = {}, .fan_outs = {}, .error = {}};
    if (data_.ConsumeBool()) out.timeout = Duration::ns(data_.ConsumeIntegral<std::int64_t>());
    return out;
  }
  bus::Answered answered() {
    bus::Answered out{.request = request(), .error = data_.ConsumeRandomLengthString(8), .places = {}};
    out.kind = data_.ConsumeBool() ? bus::Answered::Kind::finished : bus::Answered::Kind::failed;
    return out;
  }
  bus::FromGateway item_from_gateway() {
    switch (data_.ConsumeIntegralInRange<int>(0, 2)) {
      case 0:
        return an_arrival();
      case 1:
        return bus::Cancel{request()};
      default:
        return bus::AnswerTaken{.request = request(), .error = {}};
    }
  }
  bus::ToGateway item_to_gateway() {
    if (data_.ConsumeBool()) return answered();
    return bus::Moved{an_arrival()};
  }

  FuzzedDataProvider& data_;
  Time now_ = Time::from_ns(1'000'000'000);
  std::uint64_t next_ = 0;
  Driver driver_;
  Caller caller_;
  bus::Wire to_porter_, to_door_;
  bus::End gateway_end_{to_porter_, to_door_}, scheduler_end_{to_door_, to_porter_};
  bus::RemoteDoor door_{gateway_end_, {}};
  bus::Porter porter_{driver_, scheduler_end_, {}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  round_trips({reinterpret_cast<const char*>(data), size});
  FuzzedDataProvider input(data, size);
  Talk(input).go_on();
  return 0;
}
