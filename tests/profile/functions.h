// The six functions of the ESG evaluation as models, for tests and benchmarks of what asks "how long".
#pragma once
#include <string>
#include <vector>

#include "domain/function.h"

namespace sluice::profile {

struct ModelNumbers {
  const char* name;
  double exec_ms, floor, cpu, gpu, beta, gamma;
};

inline Function a_function(const ModelNumbers& n) {
  return {.name = n.name,
          .cpu = {},
          .gpu = {},
          .inputs = {},
          .outputs = {},
          .input_bytes = {},
          .memory = {},
          .cold_start = {},
          .profile = ProfileModel{.exec = Duration::ms(n.exec_ms),
                                  .floor = n.floor,
                                  .cpu = n.cpu,
                                  .gpu = n.gpu,
                                  .beta = n.beta,
                                  .gamma = n.gamma,
                                  .batch = {1, 2, 4, 8, 12, 16, 24, 32},
                                  .vcpu = {1, 2, 3, 4, 6, 8, 12, 16},
                                  .slices = {1, 2, 4, 7},
                                  .noise = .05}};
}

inline std::vector<Function> esg_functions() {
  return {a_function({"super-resolution", 86, .35, .15, .50, .70, .80}),
          a_function({"segmentation", 293, .20, .10, .70, .75, .88}),
          a_function({"deblur", 319, .20, .08, .72, .75, .88}),
          a_function({"classification", 147, .40, .15, .45, .70, .80}),
          a_function({"background-removal", 1047, .12, .06, .82, .80, .92}),
          a_function({"depth-recognition", 828, .15, .06, .79, .80, .90})};
}

}  // namespace sluice::profile
