// `sluice doctor`: whether this machine has what a server needs, and what would help where it has not.
#pragma once
#include <string>

#include "cli/live_commands.h"

namespace sluice::cli {

struct DoctorOptions {
  ServerOptions server;  // and whether JSON is printed
  std::string data;      // as --data of `sluice up`
};
// A line for each check. 1 if there is an error; warnings are no errors.
int doctor_command(const DoctorOptions& options);

}  // namespace sluice::cli
