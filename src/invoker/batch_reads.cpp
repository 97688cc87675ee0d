#include "invoker/batch_reads.h"

#include <utility>

#include "base/text.h"
#include "data/clock.h"

namespace sluice::invoker {
namespace {

data::RunKey run_of(const BatchMember& member) {
  return {member.request, member.outermost(), member.path};
}

}  // namespace

BatchReads::BatchReads(Applications& applications, data::ObjectStore& objects, bus::Objects* others, Hooks hooks)
    : applications_(applications), objects_(objects), others_(others), hooks_(std::move(hooks)) {
  if (others_ != nullptr) resolver_.emplace(*others_, objects_);
}

void BatchReads::read_inputs(Running& batch) {
  const std::size_t members = batch.start.members.size();
  batch.inputs.resize(members);
  batch.results.resize(members);
  if (!resolver_) {
    for (std::size_t m = 0; m < members; ++m) read_inputs_of(batch, m, nullptr);
    return hooks_.inputs_read(batch);
  }
  batch.reads = true;
  for (std::size_t m = 0; m < members; ++m) {
    objects_.expect(batch.start.members[m].request);
    wait_for(batch, m, &BatchReads::read_inputs_of,
             [this, &batch, m](const bus::Resolver::Missed& missed) { inputs_read(batch, m, missed); });
  }
  if (batch.waiting > 0) return;
  batch.reads = false;
  hooks_.inputs_read(batch);
}

void BatchReads::read_inputs_of(Running& batch, std::size_t m, data::Missing* missing) {
  const BatchMember& member = batch.start.members[m];
  const Application& application = applications_[batch.start.application];
  const auto& arena = applications_.arena(batch.start.application);
  const data::Values values(objects_, application, run_of(member), *arena, missing);
  auto inputs = values.inputs_of(member.stage, member.item);
  batch.results[m] = {.id = member.invocation};
  if (inputs) {
    batch.inputs[m] = std::move(*inputs);
    return;
  }
  batch.results[m].outcome = Outcome::failed;
  batch.results[m].error = str("InputMissing: ", inputs.error().message);
}

// Whether a stage before left nothing or its machine has lost it is not known here as long as one of the places does
// not say that it knows the request: then the scheduler has to see to it.
void BatchReads::inputs_read(Running& batch, std::size_t m, const bus::Resolver::Missed& missed) {
  const BatchMember& member = batch.start.members[m];
  if (missed.any()) {
    lost(member, missed);
    batch.inputs[m].clear();
    batch.results[m] = {.id = member.invocation, .outcome = Outcome::not_run, .error = "ObjectLost"};
  }
  if (--batch.waiting > 0) return;
  batch.waits_for.clear();
  batch.reads = false;
  batch.told = data::now();
  hooks_.inputs_read(batch);
}

void BatchReads::look_at_conditions(Running& batch) {
  for (std::size_t m = 0; m < batch.results.size(); ++m) {
    const BatchMember& member = batch.start.members[m];
    if (batch.results[m].outcome != Outcome::succeeded) continue;
    if (!has_company(member)) {
      look_at_conditions_of(batch, m, nullptr);
      continue;
    }
    wait_for(batch, m, &BatchReads::look_at_conditions_of, [this, &batch, m](const bus::Resolver::Missed& missed) {
      lost(batch.start.members[m], missed);
      if (--batch.waiting == 0) hooks_.conditions_read(batch);
    });
  }
  if (batch.waiting == 0) hooks_.conditions_read(batch);
}

void BatchReads::look_at_conditions_of(Running& batch, std::size_t m, data::Missing* missing) {
  const BatchMember& member = batch.start.members[m];
  const Application& application = applications_[batch.start.application];
  const auto& arena = applications_.arena(batch.start.application);
  auto known = data::Values(objects_, application, run_of(member), *arena, missing).known_after(member.stage);
  InvocationResult& result = batch.results[m];
  result.outcome = known ? Outcome::succeeded : Outcome::failed;
  result.error = known ? "" : known.error().message;
  result.verdicts = known ? std::move(known->verdicts) : std::vector<Verdict>{};
  result.fan_outs = known ? std::move(known->fan_outs) : std::vector<FanOut>{};
}

// Whether another machine has to do with its request, so that objects may be there.
bool BatchReads::has_company(const BatchMember& member) const {
  return resolver_ && (!member.places.empty() || !others_->askers(member.request).empty());
}

void BatchReads::wait_for(Running& batch, std::size_t m, Attempt attempt,
                          std::function<void(const bus::Resolver::Missed&)> done) {
  const BatchMember& member = batch.start.members[m];
  auto ticket = resolver_->resolve(
      {.request = member.request,
       .places = member.places,
       .arena = applications_.arena(batch.start.application),
       .attempt = [this, &batch, m, attempt](data::Missing& missing) { (this->*attempt)(batch, m, &missing); },
       .done = std::move(done)});
  if (!ticket) return;
  batch.waits_for.push_back(std::move(*ticket));
  ++batch.waiting;
}

// The gateway of the request is no invoker: what it does not have is not made again.
void BatchReads::lost(const BatchMember& member, const bus::Resolver::Missed& missed) const {
  for (const auto* places : {&missed.silent, &missed.unknowing}) {
    for (const InvokerId place : *places) {
      if (place.valid()) hooks_.event(ObjectLost{.invoker = place, .request = member.request});
    }
  }
}

}  // namespace sluice::invoker
