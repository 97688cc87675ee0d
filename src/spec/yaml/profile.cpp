// `profile:` of a function in our YAML: a CSV file, rows in the document, a model, or measured MIG instances.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "base/text.h"
#include "domain/limits.h"
#include "domain/profile_rules.h"
#include "spec/csv/mig_profile.h"
#include "spec/csv/profile_csv.h"
#include "spec/yaml/documents.h"

namespace sluice::spec {
namespace {

constexpr Range kAnyNumber{std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
constexpr Range kNoise{0, 10};

// A row as a list, in this order; the last three may be left out or be ~.
constexpr std::array<std::string_view, 8> kColumns = {"batch", "vcpu",   "vgpu", "mean_ms",
                                                      "sd_ms", "device", "size", "busy_mean_ms"};

std::optional<ProfileRow> read_row(const Cursor& cursor) {
  const auto cells = cursor.items();
  if (cells.size() < 5 || cells.size() > kColumns.size()) {
    cursor.error(str("has ", cells.size(),
                     " values; write [batch, vcpu, vgpu, mean_ms, sd_ms] and optionally device, size, busy_mean_ms"));
    return std::nullopt;
  }
  const auto batch = cells[0].integer(1, limits::batch_max);
  const auto vcpu = cells[1].integer(0, limits::vcpu_max);
  const auto slices = cells[2].integer(0, limits::slices_per_gpu_max);
  const auto mean = cells[3].number(kAnyNumber);
  const auto sd = cells[4].number(kAnyNumber);
  if (!batch || !vcpu || !slices || !mean || !sd) return std::nullopt;
  ProfileRow row{
      .configuration = configuration(static_cast<int>(*batch), static_cast<int>(*vcpu), static_cast<int>(*slices)),
      .mean_ms = *mean,
      .sd_ms = *sd};
  const auto given = [&](std::size_t i) { return cells.size() > i && cells[i].node().kind != Node::Kind::null; };
  if (given(5)) {
    const auto device = cells[5].text();
    if (device && DeviceKind::fits(*device))
      row.configuration.device = DeviceKind(*device);
    else if (device)
      cells[5].error(
          str("a device is named by 1 to ", DeviceKind::kLengthMax, " lower-case letters, digits, '-', '_' and '.'"));
  }
  if (given(6)) row.size = cells[6].number(kAnyNumber).value_or(1);
  if (given(7)) row.busy_mean_ms = cells[7].number(kAnyNumber);
  return row;
}

ProfileTable read_table(const Cursor& cursor) {
  ProfileTable out;
  const auto rows = cursor.items();
  if (rows.size() > limits::profile_rows_max) {
    cursor.error(str("has ", rows.size(), " rows, at most ", limits::profile_rows_max, " are allowed"));
    return out;
  }
  std::vector<const Cursor*> read;
  for (const Cursor& item : rows) {
    if (auto row = read_row(item)) {
      out.rows.push_back(*row);
      read.push_back(&item);
    }
  }
  if (read.empty() && !rows.empty()) return out;  // not one row could be read, so there is no table to judge
  for (const ProfileProblem& problem : problems_of(out)) {
    if (!problem.row) {
      cursor.error(problem.message);
      continue;
    }
    const auto column =
        static_cast<std::size_t>(std::find(kColumns.begin(), kColumns.end(), problem.field) - kColumns.begin());
    const auto cells = read[*problem.row]->items();
    (column < cells.size() ? cells[column] : *read[*problem.row]).error(problem.message);
  }
  return out;
}

ProfileModel read_model(const Cursor& cursor, Fields& profile) {
  ProfileModel out;
  Fields fields(cursor);
  bool read = true;
  const auto number = [&](std::string_view name, double& value, bool required) {
    const auto field = required ? fields.required(name, str(name, ": 0.35")) : fields.optional(name);
    const auto given = field ? field->number(kAnyNumber) : std::nullopt;
    read = read && (given || (!required && !field));
    if (given) value = *given;
  };
  const auto exec = fields.required("exec", "exec: 86ms");
  const auto time = exec ? exec->duration() : std::nullopt;
  read = read && time;
  if (time) out.exec = *time;
  number("floor", out.floor, true);
  number("cpu", out.cpu, true);
  number("gpu", out.gpu, true);
  number("beta", out.beta, false);
  number("gamma", out.gamma, false);
  fields.finish();
  const auto set = [&](std::string_view name, std::vector<std::uint16_t>& values, std::int64_t high,
                       std::string_view example) {
    const auto field = profile.required(name, example);
    if (field) values = read_counts(*field, 0, high);
    read = read && field && !values.empty();
  };
  set("batch", out.batch, limits::batch_max, "batch: [1, 2, 4, 8]");
  set("vcpu", out.vcpu, limits::vcpu_max, "vcpu: [1, 2, 4]");
  set("vgpu", out.slices, limits::slices_per_gpu_max, "vgpu: [1, 2, 4, 7]");
  if (auto field = profile.optional("noise")) out.noise = field->number(kAnyNumber).value_or(0);
  if (!read) return out;  // what is wrong with single values comes first
  for (const ProfileProblem& problem : problems_of(out)) cursor.error(problem.message);
  return out;
}

// The table in the file that `cursor` names, as `read` understands its text.
ProfileTable read_file(const Cursor& cursor, Includes& includes,
                       const std::function<ProfileCsv(std::string_view)>& read) {
  const auto name = cursor.text();
  if (!name) return {};
  const std::string path = beside(cursor.file(), *name);
  const auto text = includes.text(path, cursor.file(), cursor.mark(), cursor.path());
  if (!text) return {};
  ProfileCsv csv = read(*text);
  for (CsvError& error : csv.errors)
    includes.diagnostics().error(path, {error.line, error.column}, "", std::move(error.message));
  return std::move(csv.table);
}

ProfileTable read_mig(const Cursor& file, Fields& profile, Includes& includes) {
  const auto noise = profile.optional("noise");
  const double share = noise ? noise->number(kNoise).value_or(0) : 0;
  return read_file(file, includes, [&](std::string_view text) { return read_mig_profile(text, share); });
}

}  // namespace

std::vector<std::uint16_t> read_counts(const Cursor& list, std::int64_t low, std::int64_t high) {
  std::vector<std::uint16_t> out;
  const auto items = list.items(true);
  if (items.empty() && list.node().kind == Node::Kind::sequence) list.error("is empty");
  for (const Cursor& item : items) {
    if (auto value = item.integer(low, high)) out.push_back(static_cast<std::uint16_t>(*value));
  }
  std::sort(out.begin(), out.end());
  const auto twice = std::adjacent_find(out.begin(), out.end());
  if (twice != out.end()) list.error(str(*twice, " appears twice"));
  return out;
}

Profile read_profile(const Cursor& profile, Includes& includes) {
  if (profile.node().kind == Node::Kind::scalar) return read_file(profile, includes, read_profile_csv);
  Fields fields(profile);
  if (!fields.valid()) return {};
  const auto table = fields.optional("table");
  const auto model = fields.optional("model");
  const auto mig = fields.optional("mig");
  Profile out;
  if (table.has_value() + model.has_value() + mig.has_value() > 1)
    profile.error("has more than one of `table`, `model` and `mig`; keep one");
  else if (table)
    out = read_table(*table);
  else if (model)
    out = read_model(*model, fields);
  else if (mig)
    out = read_mig(*mig, fields, includes);
  else
    profile.error(
        "needs `table: [[batch, vcpu, vgpu, mean_ms, sd_ms], …]`, `model: {…}`, `mig: FILE` or the name of a CSV file");
  fields.finish();
  return out;
}

}  // namespace sluice::spec
