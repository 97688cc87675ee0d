#include "wire/messages.h"

#include <gtest/gtest.h>

#include "base/rng.h"

namespace sluice::wire {
namespace {

const Placed kPlaced{{"image", DataType::fp16, {2, 3, -1}}, 1, 64, 1 << 20, 2};

std::vector<ToWorker> to_worker() {
  return {
      Hello{.version = 5, .arena_bytes = 1ull << 40, .lanes = 7, .mode = GpuMode::stream, .slices = 8, .pinned = true},
      Load{.function = 5,
           .name = "classify",
           .body = {Runtime::process,
                    "model.pt",
                    {"sh", "-c", "exit"},
                    {Precision::bf16, MemoryLayout::channels_last, true}},
           .inputs = {{"x", DataType::bytes, {-1}, Bytes(7)}},
           .outputs = {{"y", DataType::boolean, {}, std::nullopt}, {"z", DataType::int8, {1, 2}, std::nullopt}},
           .threads = 4,
           .device = 1,
           .memory = Bytes(11)},
      Unload{6},
      Run{.batch = 9,
          .function = 5,
          .rows = 2,
          .threads = 3,
          .emulated = Duration::ms(5),
          .deadline = Time::from_ns(-6),
          .positions = {.gpu = 1, .slices = 0x70},
          .inputs = {kPlaced, kPlaced},
          .outputs = {128, 256},
          .keep = true},
      Grant{9, {1, 2}},
      Cancel{9},
      Stop{},
      Move{5, Level::host},
      Fetch{64},
      Release{65}};
}
std::vector<FromWorker> from_worker() {
  return {Loaded{.function = 5,
                 .error = "not found",
                 .batches = 4,
                 .memory = Bytes(8),
                 .took = Duration::ms(3),
                 .form = {Precision::fp16, MemoryLayout::channels_first},
                 .device_memory = Bytes(9)},
          Unloaded{5},
          Ran{.batch = 7,
              .cancelled = true,
              .error = "",
              .row_errors = {"", "odd"},
              .outputs = {kPlaced},
              .took = Duration::us(8),
              .on_device = Duration::us(7),
              .first = true},
          Wanted{5, 6},
          Moved{5, "no room", Duration::ms(2)},
          Fetched{64, "gone"}};
}

template <class Message>
std::string encoded(const Message& message) {
  std::string bytes;
  EXPECT_TRUE(encode(message, bytes).ok());
  return bytes;
}

// Fields are compared by their bytes: encode writes all of them, and decode has to bring back what it wrote.
template <class Messages, class Decode>
void expect_round_trips(const Messages& messages, Decode decode) {
  for (const auto& message : messages) {
    const std::string bytes = encoded(message);
    const auto decoded = decode(bytes);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded->index(), message.index());
    EXPECT_EQ(encoded(*decoded), bytes);
    for (std::size_t length = 0; length < bytes.size(); ++length) EXPECT_FALSE(decode(bytes.substr(0, length)).ok());
    EXPECT_FALSE(decode(bytes + '\0').ok());
  }
}

TEST(Messages, ComeBackAsTheyWereAndOnlyWhole) {
  expect_round_trips(to_worker(), decode_to_worker);
  expect_round_trips(from_worker(), decode_from_worker);
}

TEST(Messages, BringEveryFieldBack) {
  const auto decoded = decode_to_worker(encoded(to_worker()[1])).value();
  const auto& load = std::get<Load>(decoded);
  EXPECT_EQ(load.name, "classify");
  EXPECT_EQ(load.body.command, (std::vector<std::string>{"sh", "-c", "exit"}));
  EXPECT_EQ(load.outputs.at(1).shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(load.threads, 4u);
  const auto second = decode_to_worker(encoded(to_worker()[3])).value();
  const auto& run = std::get<wire::Run>(second);
  EXPECT_EQ(run.inputs.at(1), kPlaced);
  EXPECT_EQ(run.outputs, (Space{128, 256}));
  EXPECT_EQ(run.deadline, Time::from_ns(-6));
  EXPECT_EQ(run.positions, (SlicePositions{1, 0x70}));
}

// The worker of Python functions reads these bytes with a reader of its own.
TEST(Messages, KeepTheirLayout) {
  EXPECT_EQ(encoded(ToWorker(Grant{1, {2, 3}})), std::string("\4"
                                                             "\1\0\0\0\0\0\0\0"
                                                             "\2\0\0\0\0\0\0\0"
                                                             "\3\0\0\0\0\0\0\0",
                                                             25));
  EXPECT_EQ(encoded(ToWorker(Stop{})), "\6");
  EXPECT_EQ(
      encoded(FromWorker(Loaded{
          1, "no", 2, Bytes(3), Duration::ns(4), {Precision::fp16, MemoryLayout::channels_last, true}, Bytes(5)})),
      std::string("\0"
                  "\1\0\0\0"
                  "\2\0\0\0\0\0\0\0"
                  "no"
                  "\2\0\0\0"
                  "\3\0\0\0\0\0\0\0"
                  "\4\0\0\0\0\0\0\0"
                  "\2\2\1\0"
                  "\5\0\0\0\0\0\0\0",
                  47));
}

TEST(Messages, AreRefusedWhereTheyAreTooLarge) {
  std::string bytes = "before";
  EXPECT_FALSE(encode(ToWorker(Load{.name = std::string(message_bytes_max, 'x')}), bytes).ok());
  EXPECT_TRUE(bytes.empty());
  EXPECT_TRUE(encode(ToWorker(Load{.name = std::string(message_bytes_max / 2, 'x')}), bytes).ok());
}

TEST(Messages, OfRandomBytesAreRefusedOrComeBackAsTheSameBytes) {
  Rng rng(11);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes = encoded(to_worker()[rng.below(6)]);
    for (std::size_t changes = rng.below(4); changes > 0; --changes) {
      bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
    }
    const auto to = decode_to_worker(bytes);
    EXPECT_TRUE(!to || encoded(*to) == bytes);
    const auto from = decode_from_worker(bytes);
    EXPECT_TRUE(!from || encoded(*from) == bytes);
  }
}

TEST(Messages, CannotAskForMoreMemoryThanTheyHaveBytes) {
  std::string bytes = encoded(ToWorker(wire::Run{}));
  for (std::size_t at = 1; at + 8 <= bytes.size(); ++at) {
    std::string hostile = bytes;
    hostile.replace(at, 8, 8, '\xff');
    (void)decode_to_worker(hostile);
  }
}

}  // namespace
}  // namespace sluice::wire
