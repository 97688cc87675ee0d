// A platform in a directory of its own, with real worker processes, for tests of live/ and above.
#pragma once
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>

#include "live/platform.h"
#include "record/replay.h"
#include "support/places.h"

namespace sluice::live_test {

// A folder that goes when the test does.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sluice-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline live::PlatformOptions options_in(const std::string& directory) {
  live::PlatformOptions out;
  out.directory = directory;
  out.nodes = {{.vcpu = 4, .memory = Bytes::gb(4), .gpus = 1, .slices_per_gpu = 7}};
  out.objects = Bytes::mb(64);
  out.agent.spawner.worker = test::worker_program();
  return out;
}

inline Result<live::Deployed> deploy(live::Service& service, const std::string& document,
                                     std::vector<live::Deployment::File> more = {}) {
  std::promise<Result<live::Deployed>> promise;
  live::Deployment deployment{.main = "app.yaml", .files = {{"app.yaml", document}}};
  for (auto& file : more) deployment.files.push_back(std::move(file));
  service.deploy(std::move(deployment), [&](Result<live::Deployed> done) { promise.set_value(std::move(done)); });
  return promise.get_future().get();
}

inline std::shared_ptr<const data::Tensors> floats(live::Service& service, const std::string& name,
                                                   const std::vector<float>& values) {
  auto block = service.arena("default")->allocate(values.size() * sizeof(float));
  if (!values.empty()) std::memcpy(block->data(), values.data(), values.size() * sizeof(float));
  data::Tensor tensor{.info = {name, DataType::fp32, {static_cast<std::int64_t>(values.size())}},
                      .block = *block,
                      .size = block->size()};
  return std::make_shared<const data::Tensors>(data::Tensors{std::move(tensor)});
}

inline std::future<live::Answer> call(live::Service& service, live::Call call) {
  auto promise = std::make_shared<std::promise<live::Answer>>();
  auto future = promise->get_future();
  service.call(std::move(call), [promise](live::Answer answer) { promise->set_value(std::move(answer)); });
  return future;
}

// The first log of a server that has ended, played again.
inline Result<record::Replayed> replay_in(const std::string& folder) {
  std::ifstream log(folder + "/events/events-1-0.log", std::ios::binary);
  auto reader = record::LogReader::open(log);
  if (!reader) return reader.error();
  auto scheduler = record::make_scheduler(reader->header());
  if (!scheduler) return scheduler.error();
  return record::replay(*reader, **scheduler);
}

}  // namespace sluice::live_test
