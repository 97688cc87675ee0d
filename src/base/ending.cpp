#include "base/ending.h"

#include <cstring>

#include "base/text.h"

namespace sluice {

std::string ending_in_words(bool by_signal, int number) {
  if (!by_signal) return str("exited with code ", number);
  const char* name = ::sigabbrev_np(number);
  return str("was killed by signal ", number, name == nullptr ? "" : str(" (SIG", name, ")"));
}

}  // namespace sluice
