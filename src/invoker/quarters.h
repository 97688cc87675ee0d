// Quarters: who workers are and where they may write: a user and a folder for each tenant. The folders are in one of
// this server's, outside of its data, and go with it; those of a server that was killed go when the next one starts.
// Shared by everybody who starts workers, so that a tenant is the same user for all of them. Any thread.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

namespace sluice::invoker {

class Quarters {
 public:
  struct Options {
    // Users that workers may become, by number; none: they stay the server's user, as they do where the server may not
    // change it.
    std::uint32_t first_user = 400'000, users = 65'536;
    std::string closed;  // what no worker may read: the server's data; closed to all but its owner
  };
  struct Place {
    std::uint32_t user = 0;  // 0: the server's
    std::string folder;
  };

  [[nodiscard]] static Result<std::shared_ptr<Quarters>> make(Options options);
  ~Quarters();
  Quarters(const Quarters&) = delete;
  Quarters& operator=(const Quarters&) = delete;

  // The same for a tenant each time; the number follows from its name, unless another tenant has it already. An error
  // if there are no more users, or its folder cannot be made.
  [[nodiscard]] Result<Place> of(const std::string& tenant);
  // A file that workers read, as it is now.
  [[nodiscard]] Result<std::string> keep(const std::string& file);
  // Whether a path may be shown to workers: it is not the server's data, nor inside or above them.
  [[nodiscard]] bool open(const std::string& path) const;

  // Whether tenants are users of their own, else files are kept apart by landlock, else not at all.
  [[nodiscard]] bool own_users() const { return options_.users > 0; }
  [[nodiscard]] bool landlock() const { return landlock_ > 0 && !own_users(); }
  [[nodiscard]] std::string describe() const;  // "own user (400000 to 465535), no new privileges, …"

 private:
  Quarters(Options options, std::string folder);
  [[nodiscard]] static Status make_folder(const Place& place);

  Options options_;
  std::string folder_;
  int landlock_ = 0;  // version
  std::mutex mutex_;
  std::map<std::string, Place> places_;           // by tenant; guarded by mutex_
  std::map<std::uint32_t, std::string> tenants_;  // by number within the range; guarded by mutex_
};

}  // namespace sluice::invoker
