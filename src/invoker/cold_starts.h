// ColdStarts: how long the functions of this machine took to start, in phases that follow one another. Kept by Agent
// for whoever drives it.
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"

namespace sluice::invoker {

struct ColdStart {
  struct Phase {
    std::uint64_t count = 0;
    Duration time;
    void add(Duration took) {
      ++count;
      time += took;
    }
  };
  Phase process;  // from the command until there is a process
  Phase load;     // until that says that it has loaded
  Phase ready;    // until it may be used: emulated functions take as long as they say
};
struct StartedFunction {
  std::string tenant, application, function;
  friend auto operator<=>(const StartedFunction&, const StartedFunction&) = default;
};
using ColdStarts = std::map<StartedFunction, ColdStart>;

}  // namespace sluice::invoker
