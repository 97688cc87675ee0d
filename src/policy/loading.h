// Loading: what to load where, and what goes for it. Read by dispatch (for those who wait), by prewarming (for those
// who will come) and by the core, which books it.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "policy/policy.h"

namespace sluice::policy {

// Whether there is a machine on which functions have to be loaded.
[[nodiscard]] bool some_cold(const View& view);

// What there is of a function, of instances that could run it where they are.
struct Stock {
  std::uint32_t ready = 0, loading = 0;
  std::uint32_t waiting = 0;       // invocations
  bool on_host = false;            // a copy lies in host memory where it could be raised
  Time first_ready = Time::max();  // now if one is ready, else when the first load is expected to end
};
[[nodiscard]] Stock stock_of(const View& view, const SharedFunction& function);
// Whether something of it is ready where it can run: mostly so, and known at the first instance.
[[nodiscard]] bool has_ready(const View& view, const SharedFunction& function);

// How long raising it to `to` takes, as measured, or as its document says.
[[nodiscard]] double load_ms(const View& view, const SharedFunction& function, Level from, Level to);

[[nodiscard]] Oldest oldest_waiting(const View& view, const SharedFunction& function);
// The same wish for those who wait: everything may go for a first instance, but not the first instance of what others
// have waited for longer; for another one that is ready before the others have done what waits, everything but the
// first instance of anything that is waited for. So nothing is evicted in circles: whoever waits longest gets through.
[[nodiscard]] Wishes::Load for_waiting(const View& view, Wishes::Load load);

// What it is expected to cost not to have the instance: milliseconds of loading per millisecond from now on. What was
// loaded for requests that are still to come to it is worth more than anything else.
[[nodiscard]] double worth_of(const View& view, const Instance& instance);
// What may be given up for another instance of a function that is not waited for: by how often it is called, or because
// it is needed within about a second.
[[nodiscard]] double worth_of(const View& view, const SharedFunction& function);
[[nodiscard]] double worth_soon(const View& view, const SharedFunction& function);

// Who has to go so that the function can be loaded there, those first that are worth the least for their memory;
// nothing if it cannot be done by giving up what is worth less than `worth` in all, or if there are as many instances
// of it at the place as could run there. An instance stays if it is of the same function. If somebody waits for its
// function who has waited longer than those who wait for the load, it stays if it was not used yet and its tenant may
// use it (or it is new), or if it is the first of its function: others may be more than they can use. The first that is
// waited for stays as well where the load is of a function that has something ready. For a load ahead all stays that is
// waited for. `loss`: what they are worth together.
struct Victims {
  std::vector<InstanceId> list;
  double loss = 0;
};
[[nodiscard]] std::optional<Victims> victims_for(const View& view, const Wishes::Load& load);

// Where to load it at the least loss: device memory before the host's, then the most free slices, the most free memory,
// the lowest id. Nothing if it can be loaded nowhere now.
// `wish`: of the function, what may go for it, and who waits.
[[nodiscard]] std::optional<Wishes::Load> place_to_load(const View& view, const Wishes::Load& wish);

// Whether the instance is one of the `min_instances` of its function, which neither time nor others send away: those
// with the lowest ids.
[[nodiscard]] bool is_kept(const View& view, const Instance& instance);

// Whether a batch of its function was promised a time at its place: then neither time nor others send it away.
[[nodiscard]] bool is_promised(const View& view, const Instance& instance);

// Whether those who wait for the function need more of it: nothing that is loaded has room, and not enough is on its
// way. Loads grow by half of what is ready: one for every waiting invocation would fill the machines with loads that
// come too late.
[[nodiscard]] bool needs_load(const View& view, const SharedFunction& function);

// Any dispatch, with loads for those who wait: after all that can start has started, the functions that needs_load()
// are loaded, the earliest deadline first. `in_order`: where nobody starts before those who were ready earlier, those
// come first; what they need and does not fit yet is not to be filled up with what would leave for it before it ran.
[[nodiscard]] std::unique_ptr<Dispatch> make_loading(std::unique_ptr<Dispatch> dispatch, bool in_order = false);

}  // namespace sluice::policy
