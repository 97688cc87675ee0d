// BatchReads: what a batch reads, the inputs of its members before it runs, the conditions and lists that depend on it
// afterwards. All of it is here on a machine that runs alone; else what is missing is fetched from others, while the
// batch keeps what is booked for it.
#pragma once
#include <functional>
#include <optional>

#include "bus/objects.h"
#include "bus/resolver.h"
#include "data/object_store.h"
#include "data/values.h"
#include "invoker/applications.h"

namespace sluice::invoker {

class BatchReads {
 public:
  struct Hooks {
    std::function<void(Running&)> inputs_read;      // or a member's result says why not
    std::function<void(Running&)> conditions_read;  // verdicts and fan-outs are in the results
    std::function<void(Event)> event;
  };
  // `others`: what other machines hold; null: there are none.
  BatchReads(Applications& applications, data::ObjectStore& objects, bus::Objects* others, Hooks hooks);

  void read_inputs(Running& batch);
  void look_at_conditions(Running& batch);

 private:
  using Attempt = void (BatchReads::*)(Running&, std::size_t member, data::Missing*);

  void read_inputs_of(Running& batch, std::size_t member, data::Missing* missing);
  void inputs_read(Running& batch, std::size_t member, const bus::Resolver::Missed& missed);
  void look_at_conditions_of(Running& batch, std::size_t member, data::Missing* missing);
  // `done` is called later, if at all: only where something has to be fetched.
  void wait_for(Running& batch, std::size_t member, Attempt attempt,
                std::function<void(const bus::Resolver::Missed&)> done);
  void lost(const BatchMember& member, const bus::Resolver::Missed& missed) const;
  [[nodiscard]] bool has_company(const BatchMember& member) const;

  Applications& applications_;
  data::ObjectStore& objects_;
  bus::Objects* others_;
  Hooks hooks_;
  std::optional<bus::Resolver> resolver_;  // none: no other machines
};

}  // namespace sluice::invoker
