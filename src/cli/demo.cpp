#include "cli/demo.h"

#include <filesystem>
#include <future>

#include "base/text.h"
#include "cli/deployment_files.h"
#include "cli/worker_path.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

constexpr const char* kApplications[] = {"image_classification.yaml", "depth_recognition.yaml", "background_elimination.yaml",
                                         "expanded_image_classification.yaml"};

Result<live::Deployed> deploy_file(live::Platform& platform, const std::string& file) {
  RecordingReader read;
  const spec::Loaded loaded = spec::load(file, read.reader());
  const auto* application = loaded.document ? std::get_if<Application>(&*loaded.document) : nullptr;
  if (application == nullptr) return Error{ErrorCode::invalid, str("'", file, "' is not an application: try sluice check ", file)};
  const auto files = collect(loaded, *application, read);
  if (!files) return files.error();
  live::Deployment deployment{.main = files->main};
  for (const auto& [path, content] : files->files) deployment.files.push_back({path, content});
  std::promise<Result<live::Deployed>> promise;
  platform.deploy(std::move(deployment), [&](Result<live::Deployed> done) { promise.set_value(std::move(done)); });
  return promise.get_future().get();
}

}  // namespace

Status show_demo(live::Platform& platform, const std::string& address, const std::string& directory,
                 const std::function<void(const std::string&)>& say) {
  const std::string folder = example_folder("vision");
  if (folder.empty()) return Error{ErrorCode::not_found, "the example `examples/vision` is not beside this program or above it"};
  for (const char* name : kApplications) {
    const auto deployed = deploy_file(platform, str(folder, "/", name));
    if (!deployed) return deployed.error();
    say(str("ok: deployed ", deployed->application, " version ", deployed->version));
  }
  (void)address;
  (void)directory;
  return Done{};
}

}  // namespace sluice::cli
