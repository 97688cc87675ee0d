#include "reproduce/esg_settings.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "reproduce/esg_documents.h"
#include "spec/load.h"

namespace sluice::reproduce {
namespace {

constexpr std::array<std::string_view, 3> kSloNames{"strict", "moderate", "relaxed"};
constexpr std::array<std::string_view, 3> kLoadNames{"light", "normal", "heavy"};
constexpr std::array<std::string_view, 6> kFunctions{"super-resolution", "segmentation",       "deblur",
                                                     "classification",   "background-removal", "depth-recognition"};

Result<std::string> read_document(const std::string& path) {
  if (path == "functions.yaml") return std::string(kEsgFunctions);
  if (path == "image_classification.yaml") return std::string(kEsgImageClassification);
  if (path == "depth_recognition.yaml") return std::string(kEsgDepthRecognition);
  if (path == "background_elimination.yaml") return std::string(kEsgBackgroundElimination);
  if (path == "expanded_image_classification.yaml") return std::string(kEsgExpandedImageClassification);
  return Error{ErrorCode::not_found, str("there is no document '", path, "'")};
}

std::vector<Application> applications() {
  std::vector<Application> out;
  for (const char* file : {"image_classification.yaml", "depth_recognition.yaml", "background_elimination.yaml",
                           "expanded_image_classification.yaml"}) {
    const spec::Loaded loaded = spec::load(file, read_document);
    CHECK_MSG(loaded.document.has_value(), "a document of ESG's evaluation has errors; try sluice check examples/esg");
    out.push_back(std::get<Application>(*loaded.document));
  }
  return out;
}

Status replace_profiles(std::vector<Application>& applications, const Profiles& profiles) {
  for (const auto& [name, profile] : profiles) {
    if (std::find(kFunctions.begin(), kFunctions.end(), name) == kFunctions.end()) {
      return Error{ErrorCode::not_found, str("ESG's evaluation has no function '", name, "'")};
    }
    for (Application& application : applications) {
      for (Function& function : application.functions) {
        if (function.name == name) function.profile = profile;
      }
    }
  }
  return Done{};
}

}  // namespace

std::string_view name_of(Slo slo) {
  return kSloNames[static_cast<std::size_t>(slo)];
}

std::string name_of(Setting setting) {
  return str(name_of(setting.slo), "-", kLoadNames[static_cast<std::size_t>(setting.load)]);
}

std::optional<Setting> setting_of(std::string_view name) {
  for (const Setting setting : all_settings()) {
    if (name_of(setting) == name) return setting;
  }
  return std::nullopt;
}

std::span<const Setting> all_settings() {
  static const std::vector<Setting> kAll = [] {
    std::vector<Setting> all;
    for (const Load load : kLoads) {
      for (const Slo slo : kSlos) all.push_back({slo, load});
    }
    return all;
  }();
  return kAll;
}

std::span<const Setting> headline_settings() {
  static constexpr std::array kHeadline{Setting{Slo::strict, Load::light}, Setting{Slo::moderate, Load::normal},
                                        Setting{Slo::relaxed, Load::heavy}};
  return kHeadline;
}

double scale_of(Slo slo) {
  constexpr std::array kScale{0.8, 1.0, 1.2};
  return kScale[static_cast<std::size_t>(slo)];
}

UniformGap gap_of(Load load) {
  constexpr std::array kTimes{4.0, 2.0, 1.0};
  const double times = kTimes[static_cast<std::size_t>(load)];
  return {Duration::ms(10 * times), Duration::ms(16.8 * times)};
}

double heavy_rate() {
  const UniformGap gap = gap_of(Load::heavy);
  return 2 / (gap.low + gap.high).to_s();
}

std::span<const std::string_view> function_names() {
  return kFunctions;
}

Result<Experiment> make_evaluation(const Profiles& profiles, const Length& length) {
  Experiment out;
  out.cluster.nodes = {NodeGroup{.count = 16, .vcpu = 16, .gpus = 1, .slices_per_gpu = 7}};
  out.applications = applications();
  if (const Status replaced = replace_profiles(out.applications, profiles); !replaced) return replaced.error();
  out.workload.requests = length.requests;
  out.workload.warmup = length.warmup();
  out.noise = Noise{.sigma = 0.05};
  return out;
}

Experiment with_setting(Experiment evaluation, Setting setting) {
  evaluation.name = name_of(setting);
  evaluation.slo_scale = scale_of(setting.slo);
  evaluation.workload.arrivals = gap_of(setting.load);
  return evaluation;
}

}  // namespace sluice::reproduce
