#include "live/standings.h"

#include <utility>

#include "base/text.h"

namespace sluice::live {
namespace {

FunctionId id_of(std::size_t position) {
  return FunctionId(static_cast<std::uint32_t>(position));
}

}  // namespace

void Standings::deployed(ApplicationId id) {
  const auto& profiled = *directory_[id].profiled;
  for (std::size_t f = 0; f < profiled.size(); ++f) {
    if (profiled[f].state == ProfileState::waiting) link_.want_sample(id, id_of(f), true);
  }
}

void Standings::change(std::uint64_t key, const ProfileStanding& standing) {
  each_of(key, [&](ApplicationId id, Installed& installed, std::size_t f) {
    const bool known = f < installed.profiled->size() && is_known((*installed.profiled)[f].state);
    const bool measured = standing.state == ProfileState::measured;
    if (!measured && known != is_known(standing.state)) return;
    link_.want_sample(id, id_of(f), standing.state == ProfileState::waiting);
    installed.set_profiled(f, standing);
  });
}

std::optional<FirstRequest> Standings::take(bus::Sampled sample) {
  const Installed* installed = directory_.find(sample.application);
  const std::size_t f = sample.function.index();
  if (installed == nullptr || f >= installed->keys.size()) return std::nullopt;
  FirstRequest out{.application = installed->application,
                   .function = f,
                   .key = installed->keys[f],
                   .inputs = std::move(sample.inputs),
                   .files = installed->files};
  if (sample.bytes <= bus::sample_bytes_max) {
    change(out.key, {.state = ProfileState::measuring, .why = {}});
    return out;
  }
  change(out.key,
         {.state = ProfileState::failed,
          .why = str("the inputs of its first request have ", sample.bytes, " bytes, at most ", bus::sample_bytes_max,
                     " are kept to measure with: declare `inputs:` or give a `sample:`")});
  return std::nullopt;
}

}  // namespace sluice::live
