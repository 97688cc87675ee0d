#include "policy/placement.h"

#include "policy/home.h"

namespace sluice::policy {
namespace {

std::optional<std::uint32_t> from_home(const View& view, const Queue& queue, const Configuration& c) {
  const auto n = static_cast<std::uint32_t>(view.invokers.size());
  const Application& application = *view.application(queue.application).application;
  const HomeOrder home(application.tenant, application.function(queue.function).name, n);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (view.fits(queue, c, home[i])) return home[i];
  }
  return std::nullopt;
}

std::optional<std::uint32_t> in_turn(const View& view, const Queue& queue, const Configuration& c, std::uint32_t next) {
  const auto n = static_cast<std::uint32_t>(view.invokers.size());
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t at = (next + i) % n;
    if (view.fits(queue, c, at)) return at;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> place(Placement placement, const View& view, const Queue& queue, const Configuration& c,
                                   std::uint32_t next) {
  const auto fits = [&](std::uint32_t invoker) { return view.fits(queue, c, invoker); };
  const InvokerId near = queue.waiting.front().inputs_at;
  switch (placement) {
    case Placement::home:
      return from_home(view, queue, c);
    case Placement::round_robin:
      return in_turn(view, queue, c, next);
    case Placement::best_fit:
      return view.by_free.fullest(c.slices, fits);
    case Placement::locality:
      if (near.valid() && fits(near.value())) return near.value();
      break;
    case Placement::balance:
      break;
  }
  return view.by_free.emptiest(c.slices, fits);
}

}  // namespace sluice::policy
