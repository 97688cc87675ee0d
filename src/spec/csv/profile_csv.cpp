#include "spec/csv/profile_csv.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"
#include "domain/profile_rules.h"

namespace sluice::spec {
namespace {

// NOLINTNEXTLINE(readability-identifier-naming): places in a line, used as constants
enum Field : std::size_t { kBatch, kVcpu, kVgpu, kMeanMs, kSdMs, kDevice, kSize, kBusyMeanMs, kFields };
constexpr std::array<std::string_view, kFields> kNames = {"batch", "vcpu",   "vgpu", "mean_ms",
                                                          "sd_ms", "device", "size", "busy_mean_ms"};
constexpr std::size_t kRequired = kDevice;  // the fields before it
constexpr std::size_t kLineBytesMax = 1024;

struct Cell {
  std::string_view text;  // without surrounding blanks
  int column = 1;
};

Cell trimmed(std::string_view text, std::size_t offset) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  const std::size_t last = text.find_last_not_of(" \t") + 1;  // 0 if there is none
  return {text.substr(first, last > first ? last - first : 0), static_cast<int>(offset + first + 1)};
}

std::vector<Cell> split(std::string_view line) {
  std::vector<Cell> cells;
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    cells.push_back(trimmed(line.substr(begin, end - begin), begin));
    if (end == line.size()) return cells;
    begin = end + 1;
  }
}

class Reader {
 public:
  ProfileCsv read(std::string_view text) {
    if (text.size() > limits::document_bytes_max) {
      line_ = 1;
      fail(1, str("the text has ", text.size(), " bytes; the most is ", limits::document_bytes_max));
      return std::move(out_);
    }
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark, as spreadsheets write it
    while (!text.empty() && !stopped_) text.remove_prefix(line(text));
    if (!have_header_) {
      ++line_;
      fail(1, "there is no header; the first line must be batch,vcpu,vgpu,mean_ms,sd_ms");
    }
    if (!stopped_) check_rows();
    std::ranges::stable_sort(out_.errors, {}, [](const CsvError& e) { return std::pair{e.line, e.column}; });
    return std::move(out_);
  }

 private:
  struct Position {
    int line;
    std::array<int, kFields> columns;  // of absent fields: of the row
  };

  // Reads the first line of `rest` and returns how many bytes it takes with its end.
  std::size_t line(std::string_view rest) {
    ++line_;
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view content = rest.substr(0, end);
    if (content.ends_with('\r')) content.remove_suffix(1);
    const std::size_t first = content.find_first_not_of(" \t");
    if (first == std::string_view::npos || content[first] == '#') return std::min(end + 1, rest.size());
    if (content.size() > kLineBytesMax) {
      fail(static_cast<int>(kLineBytesMax),
           str("the line has ", content.size(), " bytes; the most is ", kLineBytesMax));
      stopped_ = !have_header_;
      have_header_ = true;
    } else if (have_header_) {
      row(split(content));
    } else {
      header(split(content));
    }
    return std::min(end + 1, rest.size());
  }

  void header(const std::vector<Cell>& cells) {
    have_header_ = true;
    width_ = cells.size();
    for (std::size_t i = 0; i < cells.size(); ++i) column_name(cells[i], i);
    for (std::size_t field = 0; field < kRequired; ++field) {
      if (place_[field]) continue;
      fail(1, str("the header has no column ", kNames[field], "; it needs batch,vcpu,vgpu,mean_ms,sd_ms"));
      stopped_ = true;
    }
  }

  void column_name(const Cell& cell, std::size_t place) {
    const auto known = std::ranges::find(kNames, cell.text);
    if (known == kNames.end()) {
      const auto near = nearest(cell.text, kNames);
      const std::string hint = near ? str("; did you mean ", *near, "?") : "; remove it or see the profile format";
      return fail(cell.column, str("unknown column '", printable(cell.text), "'", hint));
    }
    std::optional<std::size_t>& at = place_[static_cast<std::size_t>(known - kNames.begin())];
    if (at) return fail(cell.column, str("column ", cell.text, " appears twice; keep one of them"));
    at = place;
  }

  void row(const std::vector<Cell>& cells) {
    if (cells.size() != width_) {
      return fail(1, str("the line has ", cells.size(), " fields, the header has ", width_));
    }
    if (out_.table.rows.size() >= limits::profile_rows_max) {
      stopped_ = true;
      return fail(1, str("more rows than ", limits::profile_rows_max, "; split the function or leave rows out"));
    }
    const std::size_t before = failures_;
    Position position{line_, {}};
    for (std::size_t f = 0; f < kFields; ++f) position.columns[f] = place_[f] ? cells[*place_[f]].column : 1;
    const ProfileRow row = values(cells);
    if (failures_ != before) return;
    out_.table.rows.push_back(row);
    positions_.push_back(position);
  }

  ProfileRow values(const std::vector<Cell>& cells) {
    ProfileRow row;
    row.configuration.batch = integer(cells, kBatch);
    row.configuration.vcpu = integer(cells, kVcpu);
    row.configuration.slices = integer(cells, kVgpu);
    row.configuration.device = device(cells, row.configuration.slices);
    row.mean_ms = number(cells, kMeanMs).value_or(0);
    row.sd_ms = number(cells, kSdMs).value_or(0);
    row.size = number(cells, kSize).value_or(1);
    row.busy_mean_ms = number(cells, kBusyMeanMs);
    return row;
  }

  // The cell of a field, nothing if the column is absent or the field is optional and blank.
  std::optional<Cell> cell(const std::vector<Cell>& cells, Field field) {
    if (!place_[field]) return std::nullopt;
    const Cell& found = cells[*place_[field]];
    if (!found.text.empty()) return found;
    if (field < kRequired) fail(found.column, str(kNames[field], " is blank; write a number"));
    return std::nullopt;
  }

  std::uint16_t integer(const std::vector<Cell>& cells, Field field) {
    const std::optional<Cell> found = cell(cells, field);
    if (!found) return 1;
    const std::optional<std::int64_t> value = parse_int(found->text);
    if (!value) {
      fail(found->column, str(kNames[field], " is '", printable(found->text), "'; it must be a whole number"));
      return 1;
    }
    if (auto problem = integer_problem(kNames[field], *value)) fail(found->column, std::move(*problem));
    return static_cast<std::uint16_t>(*value);
  }

  std::optional<double> number(const std::vector<Cell>& cells, Field field) {
    const std::optional<Cell> found = cell(cells, field);
    if (!found) return std::nullopt;
    const std::optional<double> value = parse_double(found->text);
    if (!value) fail(found->column, str(kNames[field], " is '", printable(found->text), "'; it must be a number"));
    return value;
  }

  DeviceKind device(const std::vector<Cell>& cells, std::uint16_t slices) {
    const DeviceKind usual = slices == 0 ? DeviceKind::cpu() : DeviceKind::gpu();
    const std::optional<Cell> found = cell(cells, kDevice);
    if (!found) return usual;
    if (DeviceKind::fits(found->text)) return DeviceKind(found->text);
    fail(found->column, str("device is '", printable(found->text), "'; write cpu, gpu or a kind of GPU: 1 to ",
                            DeviceKind::kLengthMax, " lower-case letters, digits, '-', '_' and '.'"));
    return usual;
  }

  // What the rules of the domain say about rows that could be read.
  void check_rows() {
    if (out_.table.rows.empty() && failures_ > 0) return;  // each line has its own error already
    for (const ProfileProblem& problem : problems_of(out_.table)) {
      if (!problem.row) {
        fail(1, problem.message);
        continue;
      }
      const Position& position = positions_[*problem.row];
      const auto field = static_cast<std::size_t>(std::ranges::find(kNames, problem.field) - kNames.begin());
      const std::string where = problem.repeats ? str(" (line ", positions_[*problem.repeats].line, ")") : "";
      line_ = position.line;
      fail(position.columns.at(field), problem.message + where);
    }
  }

  void fail(int column, std::string message) {
    ++failures_;
    if (out_.errors.size() < limits::errors_reported_max) out_.errors.push_back({line_, column, std::move(message)});
  }

  ProfileCsv out_;
  std::vector<Position> positions_;  // of the table's rows
  std::array<std::optional<std::size_t>, kFields> place_;
  std::size_t width_ = 0, failures_ = 0;
  int line_ = 0;
  bool have_header_ = false, stopped_ = false;
};

bool has_usual_device(const ProfileRow& row) {
  return row.configuration.device == (row.configuration.slices == 0 ? DeviceKind::cpu() : DeviceKind::gpu());
}

}  // namespace

ProfileCsv read_profile_csv(std::string_view text) {
  return Reader().read(text);
}

std::string write_profile_csv(const ProfileTable& table) {
  const auto any = [&](auto needs) { return std::ranges::any_of(table.rows, needs); };
  const bool device = any([](const ProfileRow& row) { return !has_usual_device(row); });
  const bool busy = any([](const ProfileRow& row) { return row.busy_mean_ms.has_value(); });
  std::string out = "batch,vcpu,vgpu,mean_ms,sd_ms";
  if (device) out += ",device";
  if (busy) out += ",busy_mean_ms";
  out += '\n';
  for (const ProfileRow& row : table.rows) {
    const Configuration& c = row.configuration;
    out += str(c.batch, ',', c.vcpu, ',', c.slices, ',', row.mean_ms, ',', row.sd_ms);
    if (device) out += str(',', c.device.name());
    if (busy) out += row.busy_mean_ms ? str(',', *row.busy_mean_ms) : ",";
    out += '\n';
  }
  return out;
}

}  // namespace sluice::spec
