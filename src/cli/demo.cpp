#include "cli/demo.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/text.h"
#include "cli/deployment_files.h"
#include "cli/picture.h"
#include "cli/png.h"
#include "cli/worker_path.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

constexpr const char* kApplications[] = {"image_classification.yaml", "depth_recognition.yaml",
                                         "background_elimination.yaml", "expanded_image_classification.yaml"};

Result<live::Deployed> deploy_file(live::Platform& platform, const std::string& file) {
  RecordingReader read;
  const spec::Loaded loaded = spec::load(file, read.reader());
  const auto* application = loaded.document ? std::get_if<Application>(&*loaded.document) : nullptr;
  if (application == nullptr)
    return Error{ErrorCode::invalid, str("'", file, "' is not an application: try sluice check ", file)};
  const auto files = collect(loaded, *application, read);
  if (!files) return files.error();
  live::Deployment deployment{.main = files->main};
  for (const auto& [path, content] : files->files) deployment.files.push_back({path, content});
  std::promise<Result<live::Deployed>> promise;
  platform.deploy(std::move(deployment), [&](Result<live::Deployed> done) { promise.set_value(std::move(done)); });
  return promise.get_future().get();
}

constexpr const char* kReads = "expanded-image-classification";
constexpr const char* kDraws = "background-elimination";
constexpr const char* kScene = "/scenes/0_input.png";

// A picture as the input `image` of a call.
Result<std::shared_ptr<const data::Tensors>> place(const engine::OwnTensor& tensor, data::Arena& arena) {
  auto block = arena.allocate(tensor.bytes.size());
  if (!block) return Error{ErrorCode::unavailable, "the object store is full"};
  std::memcpy(block->data(), tensor.bytes.data(), tensor.bytes.size());
  data::Tensor placed{.info = tensor.info, .block = *block, .size = tensor.bytes.size()};
  return std::make_shared<const data::Tensors>(data::Tensors{std::move(placed)});
}

// Workers are loaded for the first call, which takes longer than the objective; it is not the one that is shown.
Result<live::Answer> call(live::Platform& platform, const std::string& application, const engine::OwnTensor& image) {
  live::Answer last;
  for (const Duration objective : {Duration::s(60), Duration{}}) {
    auto inputs = place(image, *platform.arena("default"));
    if (!inputs) return inputs.error();
    std::promise<live::Answer> promise;
    live::Call request{.application = application, .inputs = std::move(*inputs)};
    if (objective > Duration{}) request.objective = objective;
    platform.call(std::move(request), [&](live::Answer answer) { promise.set_value(std::move(answer)); });
    last = promise.get_future().get();
    if (last.kind != live::AnswerKind::finished) {
      return Error{ErrorCode::unavailable,
                   str("the demo's call of ", application, " failed: ", last.stage, " ", last.error)};
    }
  }
  return last;
}

std::int64_t label_of(const live::Answer& answer) {
  for (const data::Tensor& tensor : answer.outputs) {
    std::int64_t label = -1;
    if (tensor.info.name != "label" || tensor.size != sizeof label) continue;
    std::memcpy(&label, tensor.bytes().data(), sizeof label);
    return label;
  }
  return -1;
}

std::string picture_file(const live::Answer& answer) {
  for (const data::Tensor& tensor : answer.outputs) {
    const auto picture =
        picture_of({tensor.info, std::string(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.size)});
    if (picture) return encode_png(*picture);
  }
  return {};
}

// What `curl -d @FILE` sends.
Result<std::string> request_body(const engine::OwnTensor& image) {
  std::string out = R"({"inputs":[{"name":"image","datatype":"FP32","shape":[1)";
  for (const std::int64_t dimension : image.info.shape) out += str(",", dimension);
  out += R"(],"data":)";
  std::string bytes = image.bytes;
  const Status written = engine::append_tensor(out, {image.info, std::as_writable_bytes(std::span(bytes))});
  if (!written) return written.error();
  return out + "}]}";
}

Status write(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file.flush()) return Error{ErrorCode::io, str("'", path, "' cannot be written")};
  return Done{};
}

Status show_calls(live::Platform& platform, const std::string& folder, const std::string& url,
                  const std::string& directory, const std::function<void(const std::string&)>& say) {
  const auto file = spec::read_from_disk(folder + kScene);
  if (!file) return file.error();
  const auto picture = decode_picture(*file);
  if (!picture) return picture.error();
  const engine::OwnTensor image = tensor_of("image", *picture);
  const auto read = call(platform, kReads, image);
  if (!read) return read.error();
  const auto drawn = call(platform, kDraws, image);
  if (!drawn) return drawn.error();
  const std::string demo = directory + "/demo";
  std::error_code failed;
  std::filesystem::create_directories(demo, failed);
  const auto body = request_body(image);
  if (!body) return body.error();
  for (const auto& [name, content] :
       {std::pair("/request.json", *body), std::pair("/card.png", picture_file(*drawn))}) {
    if (const Status written = write(demo + name, content); !written) return written;
  }
  const auto line = [](const live::Answer& a) {
    return fmt::format("{:.0f} ms, {:.0f} ms before the deadline, ${:.2g}", a.latency.to_ms(), a.slack.to_ms(), a.cost);
  };
  say(str(kReads, ": in ", folder, kScene, ", out: the digit on the card is a ", label_of(*read), " (", line(*read),
          ")"));
  say(str(kDraws, ": the same picture in, out: ", demo, "/card.png, the card alone (", line(*drawn), ")"));
  say("\nTry it:");
  say(str("  curl -s ", url, "/v2/models/", kReads, "/infer -d @", demo, "/request.json"));
  const std::string sluice = own_command();
  say(str("  ", sluice, " invoke ", kReads, " --image image=", folder, "/scenes/1_input.png --server ", url));
  say(str("  ", sluice, " requests --server ", url, "     and then: ", sluice, " trace ID --server ", url));
  return Done{};
}

}  // namespace

Status show_demo(live::Platform& platform, const std::string& url, const std::string& directory,
                 const std::function<void(const std::string&)>& say) {
  const std::string folder = example_folder("vision");
  if (folder.empty())
    return Error{ErrorCode::not_found, "the example `examples/vision` is not beside this program or above it"};
  for (const char* name : kApplications) {
    const auto deployed = deploy_file(platform, str(folder, "/", name));
    if (!deployed) return deployed.error();
    say(str("ok: deployed ", deployed->application, " version ", deployed->version));
  }
  return show_calls(platform, folder, url, directory, say);
}

}  // namespace sluice::cli
