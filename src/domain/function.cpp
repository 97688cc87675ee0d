#include "domain/function.h"

#include <algorithm>
#include <array>

#include "base/hash.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 5> kRuntimes = {"torch", "kernel", "python", "process", "emulated"};
constexpr std::array<std::string_view, 14> kDataTypes = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64",
                                                         "INT8", "INT16", "INT32",  "INT64",  "FP16",
                                                         "BF16", "FP32",  "FP64",   "BYTES"};

template <class Enum, std::size_t N>
std::optional<Enum> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto it = std::find(names.begin(), names.end(), name);
  if (it == names.end()) return std::nullopt;
  return static_cast<Enum>(it - names.begin());
}

void add(Hash& hash, const std::optional<Bytes>& bytes) {
  hash.add(bytes ? bytes->count() : std::int64_t{-1});
}

void add(Hash& hash, const std::optional<Body>& body) {
  hash.add(body.has_value());
  if (!body) return;
  hash.add(static_cast<int>(body->runtime));
  hash.add(body->model);
  hash.add(body->command.size());
  for (const std::string& word : body->command) hash.add(word);
  if (body->form == GpuForm{}) return;
  hash.add(static_cast<int>(body->form.precision));
  hash.add(static_cast<int>(body->form.layout));
}

void add(Hash& hash, const std::vector<Port>& ports) {
  hash.add(ports.size());
  for (const Port& port : ports) {
    hash.add(port.name);
    hash.add(static_cast<int>(port.type));
    hash.add(port.shape.size());
    for (const std::int64_t dimension : port.shape) hash.add(dimension);
    add(hash, port.bytes);
  }
}

void add(Hash& hash, const Configuration& c) {
  hash.add(c.batch);
  hash.add(c.vcpu);
  hash.add(c.slices);
  hash.add(c.device.name());
}

void add(Hash& hash, const std::vector<std::uint16_t>& values) {
  hash.add(values.size());
  for (const std::uint16_t value : values) hash.add(value);
}

void add(Hash& hash, const Profile& profile) {
  hash.add(profile.index());
  if (const auto* table = std::get_if<ProfileTable>(&profile)) {
    hash.add(table->rows.size());
    for (const ProfileRow& row : table->rows) {
      add(hash, row.configuration);
      for (const double value : {row.size, row.mean_ms, row.sd_ms, row.busy_mean_ms.value_or(-1)}) hash.add(value);
    }
  }
  if (const auto* model = std::get_if<ProfileModel>(&profile)) {
    hash.add(model->exec.count_ns());
    for (const double value : {model->floor, model->cpu, model->gpu, model->beta, model->gamma, model->noise})
      hash.add(value);
    add(hash, model->batch);
    add(hash, model->vcpu);
    add(hash, model->slices);
  }
}

}  // namespace

bool is_emulated(const Function& function) {
  const auto is = [](const std::optional<Body>& body) { return body && body->runtime == Runtime::emulated; };
  return is(function.cpu) || is(function.gpu);
}

std::uint64_t code_of(const Function& function) {
  Hash hash;
  add(hash, function.cpu);
  add(hash, function.gpu);
  add(hash, function.inputs);
  add(hash, function.outputs);
  add(hash, function.input_bytes);
  add(hash, function.memory);
  hash.add(function.cold_start.process.count_ns());
  hash.add(function.cold_start.host.count_ns());
  hash.add(function.cold_start.device.count_ns());
  if (is_emulated(function)) add(hash, function.profile);
  return hash.value();
}

FunctionVersion version_of(const Function& function) {
  Hash hash;
  hash.add(code_of(function));
  add(hash, function.profile);
  return hash.value();
}

std::string_view name_of(Runtime runtime) {
  return kRuntimes[static_cast<std::size_t>(runtime)];
}
std::string_view name_of(DataType type) {
  return kDataTypes[static_cast<std::size_t>(type)];
}
std::optional<Runtime> runtime_of(std::string_view name) {
  return find_name<Runtime>(kRuntimes, name);
}
std::optional<DataType> data_type_of(std::string_view name) {
  return find_name<DataType>(kDataTypes, name);
}
std::span<const std::string_view> runtime_names() {
  return kRuntimes;
}
std::span<const std::string_view> data_type_names() {
  return kDataTypes;
}

}  // namespace sluice
