#include "reproduce/mig_applications.h"

#include <algorithm>

#include "base/text.h"

namespace sluice::reproduce {
namespace {

constexpr std::array<MigChain, 3> kChains{{{"moderation", {"mobilenetv2", "resnet50", "bert"}},
                                           {"visual-search", {"resnet50", "densenet121", "vgg16"}},
                                           {"inspection", {"inceptionv3", "resnet152", "densenet201"}}}};
constexpr std::string_view kDocument = "application.yaml";

// What goes into a model: an image of 224² (299² for Inception) pixels in three bytes, or 512 tokens in eight bytes.
std::int64_t input_bytes(std::string_view model) {
  return model == "bert" ? 512 * 8 : model == "inceptionv3" ? 299 * 299 * 3 : 224 * 224 * 3;
}

std::string document_of(const MigChain& chain, double noise) {
  std::string functions, workflow;
  std::string_view before;
  for (const std::string_view model : chain.models) {
    functions += str("  ", model, ": {runtime: emulated, bytes: ", input_bytes(model), "B, profile: {mig: ", model,
                     ".csv, noise: ", noise, "}}\n");
    workflow += before.empty() ? str("  ", model, ": {}\n") : str("  ", model, ": {after: ", before, "}\n");
    before = model;
  }
  return str("application: ", chain.application, "\nslo: 1s\nfunctions:\n", functions, "workflow:\n", workflow);
}

}  // namespace

const std::array<MigChain, 3>& mig_chains() {
  return kChains;
}

Result<std::vector<Application>> mig_applications(const std::string& folder, double noise, const spec::ReadFile& read) {
  std::vector<Application> out;
  for (const MigChain& chain : kChains) {
    const std::string document = document_of(chain, noise);
    const spec::Loaded loaded = spec::load(std::string(kDocument), [&](const std::string& path) -> Result<std::string> {
      if (path == kDocument) return document;
      return read(str(folder, "/", path));
    });
    if (!loaded.document) {
      return Error{ErrorCode::invalid, str(folder, ": ", to_string(loaded.diagnostics.sorted().front()))};
    }
    out.push_back(std::get<Application>(*loaded.document));
  }
  return out;
}

}  // namespace sluice::reproduce
