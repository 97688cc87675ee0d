#include "spec/csv/mig_profile.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "domain/limits.h"
#include "domain/profile_rules.h"

namespace sluice::spec {
namespace {

constexpr std::string_view kHeader = "Mig instance,Batch size,Workload Number,Throughput,Latency";
// NOLINTNEXTLINE(readability-identifier-naming): places in a line, used as constants
enum Field : std::size_t { kInstance, kBatch, kProcesses, kThroughput, kLatency };
constexpr std::size_t kFields = 5;
constexpr std::array<std::string_view, kFields> kNames = {"Mig instance", "Batch size", "Workload Number", "Throughput",
                                                          "Latency"};
constexpr std::size_t kLineBytesMax = 1024;
constexpr std::int64_t kProcessesMax = 4096;

struct Line {
  int number = 0;
  std::array<std::string_view, kFields> cells;
  std::array<int, kFields> columns{};
};

class Reader {
 public:
  explicit Reader(double noise) : noise_(noise) {}

  ProfileCsv read(std::string_view text) {
    if (text.size() > limits::document_bytes_max) {
      fail(1, 1, str("the text has ", text.size(), " bytes; the most is ", limits::document_bytes_max));
      return std::move(out_);
    }
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark, as spreadsheets write it
    for (int number = 1; !text.empty() && !stopped_; ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") != std::string_view::npos) read_line(number, line);
    }
    if (!have_header_) fail(1, 1, str("the file is empty; its first line must be ", kHeader));
    if (!stopped_) check_rows();
    std::ranges::stable_sort(out_.errors, {}, [](const CsvError& e) { return std::pair{e.line, e.column}; });
    return std::move(out_);
  }

 private:
  void read_line(int number, std::string_view line) {
    if (!have_header_) {
      have_header_ = true;
      stopped_ = line != kHeader;  // without it no row can be judged
      if (stopped_) fail(number, 1, str("the header is '", printable(line), "'; it must be ", kHeader));
      return;
    }
    if (line.size() > kLineBytesMax)
      return fail(number, 1, str("the line has ", line.size(), " bytes; the most is ", kLineBytesMax));
    if (++rows_ > limits::profile_rows_max) {
      stopped_ = true;
      return fail(number, 1, str("more rows than ", limits::profile_rows_max));
    }
    const auto fields = static_cast<std::size_t>(std::ranges::count(line, ',')) + 1;
    if (fields != kFields) return fail(number, 1, str("the line has ", fields, " fields, the header has ", kFields));
    read_row(split(number, line));
  }

  static Line split(int number, std::string_view text) {
    Line line{.number = number};
    std::size_t begin = 0;
    for (std::size_t f = 0; f < kFields; ++f) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      line.cells[f] = text.substr(begin, end - begin);
      line.columns[f] = static_cast<int>(begin + 1);
      begin = end + 1;
    }
    return line;
  }

  void read_row(const Line& line) {
    const auto instance = whole(line, kInstance, 1, limits::slices_per_gpu_max);
    const auto batch = whole(line, kBatch, 1, limits::batch_max);
    const auto processes = whole(line, kProcesses, 1, kProcessesMax);
    const auto throughput = number(line, kThroughput);
    if (!number(line, kLatency) || !instance || !batch || !processes || !throughput) return;
    if (*processes != 1 || *throughput == 0) return;
    const double ms = 1000.0 * static_cast<double>(*batch) / *throughput;
    out_.table.rows.push_back({.configuration = configuration(static_cast<int>(*batch), 1, static_cast<int>(*instance)),
                               .mean_ms = ms,
                               .sd_ms = ms * noise_});
    lines_.push_back(line);
  }

  std::optional<std::int64_t> whole(const Line& line, Field field, std::int64_t low, std::int64_t high) {
    const std::optional<std::int64_t> value = parse_int(line.cells[field]);
    if (value && *value >= low && *value <= high) return value;
    fail(line.number, line.columns[field],
         str(kNames[field], " is '", printable(line.cells[field]), "'; it must be a whole number from ", low, " to ",
             high));
    return std::nullopt;
  }

  std::optional<double> number(const Line& line, Field field) {
    const std::optional<double> value = parse_double(line.cells[field]);
    if (value && *value >= 0) return value;
    fail(line.number, line.columns[field],
         str(kNames[field], " is '", printable(line.cells[field]), "'; it must be a number, 0 or above"));
    return std::nullopt;
  }

  // What the rules of the domain say: repeated rows, and times that a tiny throughput makes too long.
  void check_rows() {
    if (out_.table.rows.empty()) {
      if (out_.errors.empty()) fail(1, 1, "no row of one process has a throughput above 0; there is nothing to choose");
      return;
    }
    for (const ProfileProblem& problem : problems_of(out_.table)) {
      CHECK(problem.row);
      const Line& line = lines_[*problem.row];
      const std::string where = problem.repeats ? str(" (line ", lines_[*problem.repeats].number, ")") : "";
      fail(line.number, line.columns[problem.field == "batch" ? kInstance : kThroughput], problem.message + where);
    }
  }

  void fail(int line, int column, std::string message) {
    if (out_.errors.size() < limits::errors_reported_max) out_.errors.push_back({line, column, std::move(message)});
  }

  double noise_;
  ProfileCsv out_;
  std::vector<Line> lines_;  // of the table's rows
  std::size_t rows_ = 0;
  bool have_header_ = false, stopped_ = false;
};

}  // namespace

ProfileCsv read_mig_profile(std::string_view text, double noise) {
  CHECK(noise >= 0 && noise <= 10);
  return Reader(noise).read(text);
}

}  // namespace sluice::spec
