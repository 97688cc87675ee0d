// `cluster:` of our YAML: equal machines in one line, or groups of them under `nodes:`.
#include <array>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/yaml/documents.h"

namespace sluice::spec {
namespace {

constexpr std::array<std::string_view, 3> kLayouts = {"any", "mig", "buddy"};

// The fields of one machine; how many there are is the caller's field.
NodeGroup read_machine(Fields& fields) {
  NodeGroup out;
  if (auto field = fields.required("vcpu", "vcpu: 16"))
    out.vcpu = static_cast<std::uint32_t>(field->integer(1, limits::vcpu_max).value_or(1));
  if (auto field = fields.optional("memory")) out.memory = field->bytes().value_or(out.memory);
  if (auto field = fields.optional("gpus"))
    out.gpus = static_cast<std::uint32_t>(field->integer(0, limits::gpus_per_invoker_max).value_or(0));
  if (auto field = fields.optional("slices_per_gpu")) {
    if (field->node().text == "auto")
      out.slices_per_gpu = 0;
    else
      out.slices_per_gpu = static_cast<std::uint32_t>(field->integer(1, limits::slices_per_gpu_max).value_or(1));
  }
  if (auto field = fields.optional("gpu_memory")) out.gpu_memory = field->bytes().value_or(out.gpu_memory);
  if (auto field = fields.optional("device")) {
    const auto name = field->text();
    if (name && DeviceKind::fits(*name) && *name != "cpu")
      out.device = DeviceKind(*name);
    else if (name)
      field->error(str("a GPU is named by 1 to ", DeviceKind::kLengthMax,
                       " lower-case letters, digits, '-', '_' and '.', such as h200"));
  }
  if (auto field = fields.optional("slice_layout")) {
    if (auto layout = field->choice(kLayouts)) out.layout = static_cast<SliceLayout>(*layout);
  }
  if (auto field = fields.optional("ahead")) out.ahead = field->duration().value_or(out.ahead);
  return out;
}

}  // namespace

std::optional<Cluster> read_cluster(const Cursor& cluster) {
  Cluster out;
  Fields fields(cluster);
  if (!fields.valid()) return std::nullopt;
  if (auto field = fields.optional("name")) out.name = field->name().value_or("");
  std::int64_t invokers = 0;
  const auto count = [&](const Cursor& field) {
    const std::int64_t n = field.integer(1, limits::invokers_max).value_or(1);
    invokers += n;
    return static_cast<std::uint32_t>(n);
  };
  if (auto nodes = fields.optional("nodes")) {
    const auto items = nodes->items();
    if (items.empty() && nodes->node().kind == Node::Kind::sequence) nodes->error("is empty");
    for (const Cursor& item : items) {
      Fields machine(item);
      if (!machine.valid()) continue;
      NodeGroup group = read_machine(machine);
      if (auto field = machine.optional("count"))
        group.count = count(*field);
      else
        ++invokers;
      machine.finish();
      out.nodes.push_back(group);
    }
  } else {
    const auto field = fields.required("invokers", "invokers: 16, or nodes: [{count: 16, vcpu: 16}]");
    NodeGroup group = read_machine(fields);
    if (field) group.count = count(*field);
    out.nodes.push_back(group);
  }
  fields.finish();
  if (invokers > limits::invokers_max)
    cluster.error(str("has ", invokers, " invokers, at most ", limits::invokers_max, " are allowed"));
  return out;
}

}  // namespace sluice::spec
