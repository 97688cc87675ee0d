// ModelFiles: the files of deployed functions, in a folder by their content, so that the same file is there once and a
// new version does not change what workers of the old one read. A file that nobody holds is collected. Any thread, but
// keep() and collect() are for one: a file that was kept is collected unless it is held before.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "domain/application.h"

namespace sluice::live {

class ModelFiles {
 public:
  explicit ModelFiles(std::string folder) : folder_(std::move(folder)), held_(std::make_shared<Held>()) {}

  // Where the content is from now on. `name`: how its function calls it.
  [[nodiscard]] Result<std::string> keep(const std::string& name, const std::string& content) const;
  // The models of all functions stay while a copy of this is there.
  using Lease = std::shared_ptr<const void>;
  [[nodiscard]] Lease hold(const Application& application);
  void collect() const;

 private:
  struct Held {
    std::mutex mutex;
    std::map<std::string, std::size_t> leases;  // by the folder of a content; guarded by mutex
  };
  std::string folder_;
  std::shared_ptr<Held> held_;  // outlives this with the leases
};

}  // namespace sluice::live
