// `sluice doctor`: whether this machine has what a server needs, and what would help where it has not.
#pragma once
#include <string>

namespace sluice::cli {

struct DoctorOptions {
  std::string server;  // as --server of the other commands
  std::string data;    // as --data of `sluice up`
  bool json = false;
};
// A line for each check. 1 if there is an error; warnings are no errors.
int doctor_command(const DoctorOptions& options);

}  // namespace sluice::cli
