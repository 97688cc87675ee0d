// Whatever frames arrive at either end of the bus: they are decoded to what encodes to the same bytes, or count as
// lost; a station carries out every command once and in order, a link hears of every invoker that joins before anything
// else of it, and both go on.
#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "bus/machine.h"
#include "bus/remote_link.h"
#include "bus/station.h"

using namespace sluice;

namespace {

constexpr int kTurnsMax = 200;

void round_trips(std::string_view bytes) {
  if (const auto frame = bus::decode_to_invoker(bytes)) CHECK(bus::encode(*frame).value() == bytes);
  if (const auto frame = bus::decode_from_invoker(bytes)) CHECK(bus::encode(*frame).value() == bytes);
}

class Conversation {
 public:
  explicit Conversation(FuzzedDataProvider& data) : data_(data) {}

  void go_on() {
    for (int turn = 0; turn < kTurnsMax && data_.remaining_bytes() > 0; ++turn) {
      now_ = now_ + Duration::ms(data_.ConsumeIntegralInRange<int>(0, 2000));
      step();
      station_.work(now_);
      bus::Heard heard;
      link_.receive(now_, heard);
      link_.flush(now_);
      for (std::size_t i = 1; i < machine_.carried_out.size(); ++i)
        CHECK(machine_.carried_out[i - 1] < machine_.carried_out[i]);
    }
  }

 private:
  void step() {
    switch (data_.ConsumeIntegralInRange<int>(0, 7)) {
      case 0:
        return to_station_.put(data_.ConsumeRandomLengthString(200));
      case 1:
        return to_link_.put(data_.ConsumeRandomLengthString(200));
      case 2:
        return put(to_station_, frame<bus::ToInvoker>([&] { return item_to_invoker(); }));
      case 3:
        return put(to_link_, frame<bus::FromInvoker>([&] { return item_from_invoker(); }));
      case 4:
        return link_.deploy(ApplicationId(small()), std::make_shared<Application>(Application{.name = "a"}));
      case 5: {
        Command command = a_command();
        return link_.send(command);
      }
      case 6:
        return machine_.finish_all();
      default:  // what is on its way is lost
        return (data_.ConsumeBool() ? to_station_ : to_link_).drop_all();
    }
  }
  std::uint32_t small() { return data_.ConsumeIntegralInRange<std::uint32_t>(0, 3); }
  std::uint64_t number() {
    return data_.ConsumeBool() ? data_.ConsumeIntegralInRange<std::uint64_t>(0, 8)
                               : data_.ConsumeIntegral<std::uint64_t>();
  }
  Time instant() { return data_.ConsumeBool() ? now_ : Time::from_ns(data_.ConsumeIntegral<std::int64_t>()); }
  template <class Item, class Make>
  bus::Frame<Item> frame(const Make& make) {
    bus::Frame<Item> out{.session = {number(), number()}, .at = instant(), .rejoin = data_.ConsumeBool()};
    if (data_.ConsumeBool()) out.session = {1, station_.sessions()};
    out.acknowledged = number();
    out.sent = number();
    for (std::uint32_t i = small(); i > 0; --i) out.items.push_back(make());
    return out;
  }
  template <class Item>
  void put(bus::Wire& wire, const bus::Frame<Item>& frame) {
    wire.put(bus::encode(frame).value());
  }
  bus::ToInvoker item_to_invoker() {
    switch (data_.ConsumeIntegralInRange<int>(0, 3)) {
      case 0:
        return bus::Deploy{ApplicationId(small()), data_.ConsumeBool() ? std::make_shared<Application>() : nullptr};
      case 1:
        return bus::Forget{ApplicationId(small())};
      default:
        return a_command();
    }
  }
  Command a_command() {
    const CommandId id(number());
    switch (data_.ConsumeIntegralInRange<int>(0, 3)) {
      case 0:
        return {id, LoadInstance{.invoker = InvokerId(small()), .instance = InstanceId(small())}};
      case 1:
        return {id, EvictInstance{.invoker = InvokerId(small()), .instance = InstanceId(small())}};
      case 2:
        return {id, ReleaseObjects{InvokerId(small()), RequestId(small())}};
      default: {
        StartBatch start{
            .id = BatchId(small()), .invoker = InvokerId(small()), .earliest = instant(), .latest = instant()};
        for (std::uint32_t i = small(); i > 0; --i)
          start.members.push_back(
              {.invocation = InvocationId(small()), .request = RequestId(small()), .ready = instant()});
        return {id, std::move(start)};
      }
    }
  }
  bus::FromInvoker item_from_invoker() {
    switch (data_.ConsumeIntegralInRange<int>(0, 5)) {
      case 0:
        return bus::Printed{BatchId(small()), data_.ConsumeRandomLengthString(20)};
      case 1:
        return Event(InvokerJoined{.id = InvokerId(small()), .epoch = number(), .session = number()});
      case 2:
        return Event(BatchFinished{.id = BatchId(small())});
      case 3:
        return Event(InstanceLoaded{.invoker = InvokerId(small()), .instance = InstanceId(small())});
      case 4:
        return Event(InvokerLost{InvokerId(small()), number(), number()});
      default:
        return Event(BatchFailed{.id = BatchId(small()), .error = "e"});
    }
  }

  FuzzedDataProvider& data_;
  Time now_ = Time::from_ns(1'000'000'000);
  bus::Machine machine_;
  bus::Wire to_station_, to_link_;
  bus::End scheduler_end_{to_station_, to_link_}, machine_end_{to_link_, to_station_};
  bus::RemoteLink link_{scheduler_end_, {}};
  bus::Station station_{machine_, machine_end_, {}};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  round_trips({reinterpret_cast<const char*>(data), size});
  FuzzedDataProvider input(data, size);
  Conversation(input).go_on();
  return 0;
}
