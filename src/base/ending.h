// How a process ended, in words that follow what it was: "the worker of function 'f'", "the program".
#pragma once
#include <string>

namespace sluice {

// "was killed by signal 11 (SIGSEGV)", "exited with code 3".
[[nodiscard]] std::string ending_in_words(bool by_signal, int number);

}  // namespace sluice
