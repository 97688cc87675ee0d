// `sluice profile`: measures the functions of a document on this machine.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"

namespace sluice::cli {

struct ProfileOptions {
  std::string file;
  std::vector<std::string> functions;      // empty: all
  Duration budget = Duration::s(60);       // for each function
  std::vector<std::uint16_t> batch, vcpu;  // empty: the usual ones
  std::string out = "profiles";            // a folder
  bool json = false;
};
// Writes OUT/FUNCTION.csv for each. Ctrl-C keeps what is measured. 1 if a function could not be measured.
int profile_command(const ProfileOptions& options);

}  // namespace sluice::cli
