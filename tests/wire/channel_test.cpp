#include "wire/channel.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "wire/messages.h"

namespace sluice::wire {
namespace {

struct Pair {
  std::pair<Channel, Channel> ends = Channel::pair().value();
  Channel& server = ends.first;
  Channel& worker = ends.second;
};

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

TEST(Channel, KeepsMessagesApart) {
  Pair pair;
  ASSERT_TRUE(pair.server.send("one").ok());
  ASSERT_TRUE(pair.server.send("two").ok());
  std::string message;
  EXPECT_EQ(pair.worker.receive(message), Received::message);
  EXPECT_EQ(message, "one");
  EXPECT_EQ(pair.worker.receive(message), Received::message);
  EXPECT_EQ(message, "two");
}

TEST(Channel, DoesNotBlockAtTheServersEnd) {
  Pair pair;
  std::string message;
  EXPECT_EQ(pair.server.receive(message), Received::nothing);
  Status sent = Done{};
  for (int i = 0; i < 100'000 && sent; ++i) sent = pair.server.send(std::string(1000, 'x'));
  EXPECT_FALSE(sent.ok());
}

TEST(Channel, TakesDescriptorsAlong) {
  Pair pair;
  const Descriptor memory(::memfd_create("test", 0)), other(::memfd_create("other", 0));
  ASSERT_EQ(::write(memory.get(), "hello", 5), 5);
  ASSERT_TRUE(pair.server.send("with", {memory.get(), other.get()}).ok());
  ASSERT_TRUE(pair.server.send("without").ok());
  std::string message;
  std::vector<Descriptor> descriptors;
  EXPECT_EQ(pair.worker.receive(message, &descriptors), Received::message);
  ASSERT_EQ(descriptors.size(), 2u);
  EXPECT_NE(descriptors[0].get(), memory.get());
  std::string text(5, '\0');
  EXPECT_EQ(::pread(descriptors[0].get(), text.data(), 5, 0), 5);
  EXPECT_EQ(text, "hello");
  descriptors.clear();
  EXPECT_EQ(pair.worker.receive(message, &descriptors), Received::message);
  EXPECT_TRUE(descriptors.empty());
}

TEST(Channel, ClosesDescriptorsThatNobodyAskedFor) {
  Pair pair;
  const Descriptor memory(::memfd_create("test", 0));
  const std::size_t before = open_descriptors();
  std::string message;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(pair.server.send("with", {memory.get(), memory.get()}).ok());
    EXPECT_EQ(pair.worker.receive(message), Received::message);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(Channel, SaysWhenTheOtherEndIsGone) {
  Pair pair;
  ASSERT_TRUE(pair.worker.send("last words").ok());
  pair.worker.take().reset();
  std::string message;
  EXPECT_EQ(pair.server.receive(message), Received::message);
  EXPECT_EQ(pair.server.receive(message), Received::closed);
  EXPECT_FALSE(pair.server.send("hello").ok());  // and no signal
}

TEST(Channel, TakesTheLargestMessageAndClosesOnALargerOne) {
  Pair pair;
  std::string message;
  ASSERT_TRUE(pair.server.send(std::string(message_bytes_max, 'x')).ok());
  EXPECT_EQ(pair.worker.receive(message), Received::message);
  EXPECT_EQ(message.size(), message_bytes_max);
  ASSERT_TRUE(pair.server.send(std::string(message_bytes_max + 1, 'x')).ok());
  EXPECT_EQ(pair.worker.receive(message), Received::closed);
}

TEST(Descriptor, IsClosedOnceByItsLastOwner) {
  const std::size_t before = open_descriptors();
  Descriptor a(::memfd_create("test", 0));
  Descriptor b = std::move(a);
  EXPECT_TRUE(b.valid());
  a = std::move(b);
  EXPECT_TRUE(a.valid());
  EXPECT_EQ(open_descriptors(), before + 1);
  a = Descriptor(::memfd_create("test", 0));
  EXPECT_EQ(open_descriptors(), before + 1);
  a.reset();
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace sluice::wire
