#include "reproduce/esg_worlds.h"

#include "base/text.h"

namespace sluice::reproduce {

void believe_noise(Experiment& experiment, double sigma) {
  for (Application& application : experiment.applications) {
    for (Function& function : application.functions) {
      if (auto* model = std::get_if<ProfileModel>(&function.profile)) model->noise = sigma;
    }
  }
}

Point tuned_point(std::string setting, Experiment set_up) {
  return {.setting = std::move(setting),
          .set_up = std::move(set_up),
          .contenders = contenders({}),
          .tuning = Tuning::brief};
}

std::vector<Point> law_points(Setting setting, const Experiment& base) {
  std::vector<Point> out;
  const auto add = [&](const char* law, const Noise& noise) {
    Experiment e = base;
    e.noise = noise;
    if (noise.law == NoiseLaw::log_normal) believe_noise(e, noise.sigma);
    out.push_back(tuned_point(str(name_of(setting), "/law=", law), std::move(e)));
  };
  constexpr double kSigma = 0.05;
  add("normal-5%", {.sigma = kSigma});
  add("log-normal-20%", {.sigma = 0.2, .law = NoiseLaw::log_normal});
  add("stragglers-1%x3", {.sigma = kSigma, .straggler_probability = 0.01, .straggler_factor = 3});
  add("stragglers-2%x4", {.sigma = kSigma, .straggler_probability = 0.02, .straggler_factor = 4});
  add("drift-5%-a-minute", {.sigma = kSigma, .drift_per_minute = 0.05, .drift_max = 0.15});
  return out;
}

std::vector<Point> layout_points(Setting setting, const Experiment& base) {
  std::vector<Point> out;
  for (const SliceLayout layout : {SliceLayout::any, SliceLayout::mig}) {
    Experiment e = base;
    for (NodeGroup& node : e.cluster.nodes) node.layout = layout;
    out.push_back(
        tuned_point(str(name_of(setting), "/layout=", layout == SliceLayout::mig ? "mig" : "any"), std::move(e)));
  }
  return out;
}

}  // namespace sluice::reproduce
