// The parked parent of workers.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <utility>

#include "support/places.h"
#include "wire/confinement.h"
#include "worker/process.h"

namespace sluice::test {

// A process that forks workers when it is asked to.
struct Parked {
  Process process{{worker_program(), "--park"}};

  struct Worker {
    wire::Channel channel;
    pid_t pid = 0;
    wire::Descriptor log, end;
  };
  Worker fork(const wire::Confinement& confinement = {}) {
    auto ends = wire::Channel::pair();
    wire::Descriptor log(::memfd_create("log", MFD_CLOEXEC));
    std::array<int, 2> end{};
    EXPECT_EQ(::pipe2(end.data(), O_CLOEXEC), 0);
    const wire::Descriptor theirs(end[1]);
    EXPECT_TRUE(
        process.channel().send(wire::encode(confinement), {ends->second.descriptor(), log.get(), theirs.get()}).ok());
    return {std::move(ends->first), answered(), std::move(log), wire::Descriptor(end[0])};
  }
  pid_t answered() {
    const auto answer = next_message(process.channel());
    if (!answer || answer->size() != 8) ADD_FAILURE() << "no process id";
    return answer && answer->size() == 8 ? static_cast<pid_t>(values_of<std::uint64_t>(*answer)[0]) : 0;
  }
};

// One for all tests that do it no harm: it takes long to start.
inline Parked& parked() {
  static Parked parked;
  return parked;
}

}  // namespace sluice::test
