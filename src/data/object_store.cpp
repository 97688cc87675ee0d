#include "data/object_store.h"

namespace sluice::data {

void ObjectStore::open(RequestId request, SharedTensors inputs) {
  Objects gone;  // freed outside of the lock
  const std::lock_guard lock(mutex_);
  Objects& own = objects_[request];
  gone.swap(own);
  own.emplace(ObjectKey{.outermost = kRequestInputs}, std::move(inputs));
}

void ObjectStore::expect(RequestId request) {
  const std::lock_guard lock(mutex_);
  objects_.try_emplace(request);
}

void ObjectStore::put(RequestId request, const ObjectKey& key, SharedTensors tensors) {
  const std::lock_guard lock(mutex_);
  const auto own = objects_.find(request);
  if (own != objects_.end()) own->second[key].swap(tensors);
}

SharedTensors ObjectStore::get(RequestId request, const ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto own = objects_.find(request);
  if (own == objects_.end()) return nullptr;
  const auto it = own->second.find(key);
  return it == own->second.end() ? nullptr : it->second;
}

std::optional<std::size_t> ObjectStore::held(RequestId request) const {
  const std::lock_guard lock(mutex_);
  const auto own = objects_.find(request);
  return own == objects_.end() ? std::nullopt : std::optional(own->second.size());
}

void ObjectStore::release(RequestId request) {
  Objects gone;  // freed outside of the lock
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
