// ESG's applications as the papers' defaults describe them: six functions, their latency model, 256 configurations
// each, four chains. For tests and benchmarks that need its numbers; one model, so that they all mean the same.
#pragma once
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "domain/profile.h"
#include "plan/candidate.h"

namespace sluice::esg_profile {

// t(b,c,g) = exec · (floor + gpu · b^beta / g^gamma + cpu · b / min(c, 2b)^0.8); t(1,1,1) = exec.
struct Function {
  std::string_view name;
  double exec_ms, floor, cpu, gpu, beta, gamma;
};

inline constexpr Function kSuperResolution{"super_resolution", 86, .35, .15, .50, .70, .80};
inline constexpr Function kSegmentation{"segmentation", 293, .20, .10, .70, .75, .88};
inline constexpr Function kDeblur{"deblur", 319, .20, .08, .72, .75, .88};
inline constexpr Function kClassification{"classification", 147, .40, .15, .45, .70, .80};
inline constexpr Function kBackgroundRemoval{"background_removal", 1047, .12, .06, .82, .80, .92};
inline constexpr Function kDepthRecognition{"depth_recognition", 828, .15, .06, .79, .80, .90};
inline constexpr std::array kFunctions{kSuperResolution, kSegmentation,      kDeblur,
                                       kClassification,  kBackgroundRemoval, kDepthRecognition};

inline constexpr std::array kBatches{1, 2, 4, 8, 12, 16, 24, 32};
inline constexpr std::array kVcpus{1, 2, 3, 4, 6, 8, 12, 16};
inline constexpr std::array kSlices{1, 2, 4, 7};

inline double ms(const Function& f, const Configuration& c) {
  const double batch = c.batch, useful_vcpus = std::min<double>(c.vcpu, 2 * batch);
  return f.exec_ms * (f.floor + f.gpu * std::pow(batch, f.beta) / std::pow(c.slices, f.gamma) +
                      f.cpu * batch / std::pow(useful_vcpus, 0.8));
}

inline plan::Candidate candidate(const Function& f, const Configuration& c, const Prices& prices = {}) {
  const double time = ms(f, c);
  return {.configuration = c, .ms = time, .cost = prices.per_ms(c) * time / c.batch};
}

// The 256 candidates of a function by ascending configuration.
inline plan::Candidates candidates(const Function& f, const Prices& prices = {}) {
  plan::Candidates all;
  for (const int b : kBatches) {
    for (const int c : kVcpus) {
      for (const int g : kSlices) all.push_back(candidate(f, configuration(b, c, g), prices));
    }
  }
  return all;
}

struct Application {
  std::string_view name;
  std::vector<Function> stages;  // a chain

  // L: the time of a request alone at (1,1,1); SLOs are 0.8, 1.0 and 1.2 of it.
  [[nodiscard]] double minimum_ms() const {
    double sum = 0;
    for (const Function& f : stages) sum += f.exec_ms;
    return sum;
  }
  [[nodiscard]] std::vector<plan::Candidates> candidates(const Prices& prices = {}) const {
    std::vector<plan::Candidates> all;
    for (const Function& f : stages) all.push_back(esg_profile::candidates(f, prices));
    return all;
  }
};

inline Application image_classification() {
  return {"image_classification", {kSuperResolution, kSegmentation, kClassification}};
}
inline Application depth_recognition() {
  return {"depth_recognition", {kDeblur, kSuperResolution, kDepthRecognition}};
}
inline Application background_elimination() {
  return {"background_elimination", {kSuperResolution, kDeblur, kBackgroundRemoval}};
}
inline Application expanded_image_classification() {
  return {"expanded_image_classification",
          {kDeblur, kSuperResolution, kBackgroundRemoval, kSegmentation, kClassification}};
}

}  // namespace sluice::esg_profile
