#include "data/arenas.h"

#include <condition_variable>
#include <vector>

#include "base/text.h"

namespace sluice::data {

struct Arenas::Tending {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::weak_ptr<Arena>> arenas;  // guarded by mutex
  bool stopping = false;                     // guarded by mutex

  void add(Arena& arena) {
    {
      const std::lock_guard lock(mutex);
      if (stopping) return;
      arenas.push_back(arena.weak_from_this());
    }
    changed.notify_one();
  }
  void loop() {
    for (;;) {
      std::vector<std::weak_ptr<Arena>> taken;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stopping || !arenas.empty(); });
        if (stopping) return;
        taken.swap(arenas);
      }
      for (const auto& one : taken) {
        if (const auto arena = one.lock()) arena->tend();
      }
    }
  }
};

Arenas::Arenas(Options options)
    : options_(options), tending_(std::make_shared<Tending>()), thread_([this] { tending_->loop(); }) {
  allowance_->max = static_cast<std::size_t>(options_.all.count());
}

Arenas::~Arenas() {
  {
    const std::lock_guard lock(tending_->mutex);
    tending_->stopping = true;
  }
  tending_->changed.notify_one();
  thread_.join();
}

Result<std::shared_ptr<Arena>> Arenas::of(std::string_view tenant) {
  const std::lock_guard lock(mutex_);
  if (const auto known = arenas_.find(tenant); known != arenas_.end()) return known->second;
  if (arenas_.size() >= options_.tenants_max) {
    return Error{ErrorCode::unavailable,
                 str("tenant '", tenant, "' gets no memory: there are ", arenas_.size(), " tenants already")};
  }
  const Bytes most = options_.per_tenant.count() > 0 ? std::min(options_.per_tenant, options_.all) : options_.all;
  auto made = Arena::make(
      most, {.allowance = allowance_, .wants_tending = [tending = tending_](Arena& arena) { tending->add(arena); }});
  if (!made) return made;
  if (const auto set = limits_.find(tenant); set != limits_.end()) (*made)->limit(set->second);
  arenas_.emplace(tenant, *made);
  return made;
}

void Arenas::limit(const std::string& tenant, std::optional<Bytes> most) {
  const std::lock_guard lock(mutex_);
  const auto arena = arenas_.find(tenant);
  if (most) {
    limits_[tenant] = static_cast<std::size_t>(most->count());
    if (arena != arenas_.end()) arena->second->limit(limits_[tenant]);
  } else {
    limits_.erase(tenant);
    if (arena != arenas_.end()) arena->second->limit(arena->second->capacity());
  }
}

}  // namespace sluice::data
