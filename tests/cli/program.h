// Runs the built `sluice` in the source folder.
#pragma once
#include <sys/wait.h>

#include <cstdio>
#include <string>

#include "support/places.h"

namespace sluice::test {

struct Printed {
  int status = -1;
  std::string output;  // standard output and error
};

inline Printed sluice(const std::string& arguments) {
  Printed run;
  FILE* pipe = popen(("\"" + in_build("sluice") + "\" " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return run;
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) run.output.append(buffer, n);
  run.status = WEXITSTATUS(pclose(pipe));
  return run;
}

}  // namespace sluice::test
