#include "data/object_store.h"

#include <algorithm>

namespace sluice::data {

void ObjectStore::open(RequestId request, SharedTensors inputs) {
  const std::lock_guard lock(mutex_);
  std::vector<Object>& own = objects_[request];
  own.clear();
  own.push_back({{kRequestInputs, StageId::none(), 0}, std::move(inputs)});
}

void ObjectStore::put(RequestId request, const ObjectKey& key, SharedTensors tensors) {
  const std::lock_guard lock(mutex_);
  const auto opened = objects_.find(request);
  if (opened == objects_.end()) return;
  std::vector<Object>& own = opened->second;
  const auto it = std::find_if(own.begin(), own.end(), [&](const Object& o) { return o.key == key; });
  if (it != own.end()) {
    it->tensors.swap(tensors);
  } else {
    own.push_back({key, std::move(tensors)});
  }
}

SharedTensors ObjectStore::get(RequestId request, const ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto own = objects_.find(request);
  if (own == objects_.end()) return nullptr;
  for (const Object& object : own->second) {
    if (object.key == key) return object.tensors;
  }
  return nullptr;
}

std::uint32_t ObjectStore::items(RequestId request, std::uint64_t run, StageId stage) const {
  const std::lock_guard lock(mutex_);
  const auto own = objects_.find(request);
  if (own == objects_.end()) return 0;
  return static_cast<std::uint32_t>(std::count_if(own->second.begin(), own->second.end(), [&](const Object& o) {
    return o.key.run == run && o.key.stage == stage;
  }));
}

void ObjectStore::release(RequestId request) {
  std::vector<Object> gone;  // freed outside of the lock
  const std::lock_guard lock(mutex_);
  const auto own = objects_.find(request);
  if (own == objects_.end()) return;
  gone.swap(own->second);
  objects_.erase(own);
}

std::size_t ObjectStore::requests() const {
  const std::lock_guard lock(mutex_);
  return objects_.size();
}

}  // namespace sluice::data
