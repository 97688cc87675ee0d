#include "live/backlog.h"

#include <algorithm>
#include <utility>

namespace sluice::live {

void Backlog::add(const std::string& application, RequestId id) {
  queues_[application].places.push_back({id, next_turn()});
  ++size_;
}

void Backlog::put_back(const Waiting& waiting, Time not_before) {
  Queue& queue = queues_[waiting.application];
  const auto later = [](const Place& place, std::uint64_t turn) { return place.turn < turn; };
  const auto at = std::lower_bound(queue.places.begin(), queue.places.end(), waiting.turn, later);
  queue.places.insert(at, {waiting.id, waiting.turn});
  queue.ready = true;
  queue.not_before = std::max(queue.not_before, not_before);
  ++size_;
}

// The first that is ready behind the application of the last turn, around the end of the names.
std::optional<Backlog::Waiting> Backlog::take(Time now) {
  const auto usable = [&](const auto& entry) { return entry.second.ready && entry.second.not_before <= now; };
  const auto after = queues_.upper_bound(last_);
  auto at = std::find_if(after, queues_.end(), usable);
  if (at == queues_.end()) at = std::find_if(queues_.begin(), after, usable);
  if (at == queues_.end() || !usable(*at)) return std::nullopt;
  const Place place = at->second.places.front();
  last_ = at->first;
  at->second.places.pop_front();
  if (at->second.places.empty()) queues_.erase(at);
  --size_;
  return Waiting{last_, place.id, place.turn};
}

std::optional<Time> Backlog::due() const {
  std::optional<Time> out;
  for (const auto& [application, queue] : queues_) {
    if (queue.ready && (!out || queue.not_before < *out)) out = queue.not_before;
  }
  return out;
}

bool Backlog::remove(RequestId id) {
  for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
    std::deque<Place>& places = queue->second.places;
    const auto at = std::find_if(places.begin(), places.end(), [&](const Place& place) { return place.id == id; });
    if (at == places.end()) continue;
    places.erase(at);
    if (places.empty()) queues_.erase(queue);
    --size_;
    return true;
  }
  return false;
}

std::optional<std::string> Backlog::application_of(RequestId id) const {
  for (const auto& [application, queue] : queues_) {
    for (const Place& place : queue.places) {
      if (place.id == id) return application;
    }
  }
  return std::nullopt;
}

void Backlog::set_ready(const std::string& application, bool ready) {
  const auto it = queues_.find(application);
  if (it != queues_.end()) it->second.ready = ready;
}

std::vector<RequestId> Backlog::remove_all(const std::string& application) {
  std::vector<RequestId> out;
  const auto it = queues_.find(application);
  if (it == queues_.end()) return out;
  for (const Place& place : it->second.places) out.push_back(place.id);
  size_ -= out.size();
  queues_.erase(it);
  return out;
}

std::vector<std::string> Backlog::applications() const {
  std::vector<std::string> out;
  for (const auto& [application, queue] : queues_) out.push_back(application);
  return out;
}

std::size_t Backlog::size_of(const std::string& application) const {
  const auto it = queues_.find(application);
  return it == queues_.end() ? 0 : it->second.places.size();
}

}  // namespace sluice::live
