#include "live/snapshot.h"

#include <algorithm>

namespace sluice::live {
namespace {

const Model* find_in(std::span<const Model> sorted, std::string_view name) {
  const auto found = std::ranges::lower_bound(sorted, name, {}, &Model::name);
  return found != sorted.end() && found->name == name ? &*found : nullptr;
}

}  // namespace

std::span<const Model> Snapshot::models_of(std::string_view tenant) const {
  // Not equal_range(), whose result clang cannot make a span of.
  const auto first = std::ranges::lower_bound(models, tenant, {}, &Model::tenant);
  return {first, std::ranges::upper_bound(first, models.end(), tenant, {}, &Model::tenant)};
}

const Model* Snapshot::find(std::string_view tenant, std::string_view name) const {
  const std::span<const Model> all = models_of(tenant);
  const auto functions = std::ranges::partition_point(all, [](const Model& m) { return !m.is_function; });
  const auto applications = static_cast<std::size_t>(functions - all.begin());
  const Model* application = find_in(all.first(applications), name);
  return application != nullptr ? application : find_in(all.subspan(applications), name);
}

std::vector<std::string> Snapshot::machines_of(std::string_view tenant, const Function& function) const {
  std::vector<std::string> out;
  const std::uint64_t version = code_of(function);
  for (const NodeInfo& node : nodes) {
    const bool there = std::ranges::any_of(node.instances, [&](const InstanceInfo& instance) {
      return instance.level >= Level::host && instance.tenant == tenant && instance.function == function.name &&
             instance.version == version;
    });
    if (there) out.push_back(node.name);
  }
  return out;
}

}  // namespace sluice::live
