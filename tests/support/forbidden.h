// System calls that a thread must not make, because they take long and others wait for it: they fail there, so that a
// test sees what is missing. No clock takes part.
#pragma once
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace sluice::test {

// Only where the argument of that number, its lower half, is more than this.
struct Forbidden {
  long call = 0;
  std::uint32_t argument = 0, more_than = 0;
};
inline constexpr Forbidden kPunchesHoles{SYS_fallocate, 1, 0};
inline constexpr Forbidden kMakesRoom{SYS_fallocate, 3, 0};
inline constexpr Forbidden kPopulates{SYS_madvise, 2, 22};  // MADV_POPULATE_READ is 22
// To files: what wakes another thread is eight bytes.
inline constexpr std::initializer_list<Forbidden> kWrites{{SYS_write, 2, 8}, {SYS_writev, 2, 0}, {SYS_pwrite64, 2, 0}};

// For the calling thread and those it starts, for good: to be called in a thread of its own. False: not allowed here.
[[nodiscard]] inline bool forbid(std::initializer_list<Forbidden> all) {
  constexpr std::uint16_t kLoad = BPF_LD | BPF_W | BPF_ABS, kReturn = BPF_RET | BPF_K;
  const auto argument = [](std::uint32_t number) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) + number * sizeof(std::uint64_t));
  };
  std::vector<sock_filter> program;
  for (const Forbidden& one : all) {
    program.push_back({kLoad, 0, 0, offsetof(seccomp_data, nr)});
    program.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 3, static_cast<std::uint32_t>(one.call)});
    program.push_back({kLoad, 0, 0, argument(one.argument)});
    program.push_back({BPF_JMP | BPF_JGT | BPF_K, 0, 1, one.more_than});
    program.push_back({kReturn, 0, 0, SECCOMP_RET_ERRNO | EPERM});
  }
  program.push_back({kReturn, 0, 0, SECCOMP_RET_ALLOW});
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace sluice::test
