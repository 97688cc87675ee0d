#include "bus/resolver.h"

#include <algorithm>

namespace sluice::bus {

std::optional<Resolver::Ticket> Resolver::resolve(Work work) {
  Job job{.work = std::move(work), .missing = {}, .said = {}, .got = {}, .under_way = {}};
  job.work.attempt(job.missing);
  if (job.missing.empty()) return std::nullopt;
  const std::uint64_t number = ++next_;
  Job& kept = jobs_.emplace(number, std::move(job)).first->second;
  if (ask(number, kept)) return Ticket(*this, number);
  jobs_.erase(number);
  return std::nullopt;
}

// Whether anybody is asked.
bool Resolver::ask(std::uint64_t number, Job& job) {
  for (const data::ObjectKey& key : job.missing) {
    const std::vector<InvokerId> places = ask_of(job, key);
    if (places.empty()) continue;
    job.under_way[key] =
        others_.fetch({job.work.request, key}, places, job.work.arena,
                      [this, number, key](Fetched answer) { fetched(number, key, std::move(answer)); });
  }
  return !job.under_way.empty();
}

// Every place once, and again if it has asked for something itself since and had more then. That it is asked is noted.
std::vector<InvokerId> Resolver::ask_of(Job& job, const data::ObjectKey& key) const {
  std::vector<InvokerId> out;
  const auto ask_once = [&](InvokerId place, std::uint64_t held) {
    const auto [said, first] = job.said.try_emplace({key, place}, Said{.place = place, .held = held});
    if (!first && said->second.held >= held) return;
    said->second.held = held;
    out.push_back(place);
  };
  if (job.got.contains(key)) return out;  // the request was over before it could be kept
  if (key.outermost == data::kRequestInputs) {
    ask_once(InvokerId::none(), 0);
    return out;
  }
  for (const Asker& asker : others_.askers(job.work.request)) ask_once(asker.place, asker.held);
  for (const InvokerId place : job.work.places) {
    if (!others_.is_here(place)) ask_once(place, 0);
  }
  return out;
}

// Only when all that was asked for is answered is the work tried again: every attempt may be long.
void Resolver::fetched(std::uint64_t number, const data::ObjectKey& key, Fetched answer) {
  Job& job = jobs_.at(number);
  job.under_way.erase(key);
  for (const Said& said : answer.said) {
    Said& noted = job.said[{key, said.place}];
    noted = {said.place, said.kind, std::max(said.held, noted.held)};
  }
  if (answer.tensors != nullptr) {
    job.got.insert(key);
    store_.put(job.work.request, key, std::move(answer.tensors));
  }
  if (!job.under_way.empty()) return;
  job.missing.clear();
  job.work.attempt(job.missing);
  if (ask(number, job)) return;
  const auto node = jobs_.extract(number);
  node.mapped().work.done(missed(node.mapped()));
}

Resolver::Missed Resolver::missed(const Job& job) {
  Missed out;
  for (const auto& [question, said] : job.said) {
    if (!job.missing.contains(question.first) || job.got.contains(question.first)) continue;
    if (said.kind == Said::Kind::silent) out.silent.insert(said.place);
    if (said.kind == Said::Kind::unknowing) out.unknowing.insert(said.place);
  }
  return out;
}

void Resolver::give_up(std::uint64_t number) {
  const auto node = jobs_.extract(number);
  if (node.empty()) return;
  for (const auto& [key, fetch] : node.mapped().under_way) others_.give_up(fetch);
}

}  // namespace sluice::bus
