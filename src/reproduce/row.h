// Row: one figure of a reproduced paper beside ours, in the shape that all papers share.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice::reproduce {

// Where a number or claim comes from: in the paper's own words, as others report of it, or assumed here because the
// value is not known. Figures without a number or claim are our choice.
enum class Mark { stated, reported, our_choice };
[[nodiscard]] std::string_view name_of(Mark mark);  // "our choice"

struct Row {
  std::string experiment, setting, scheduler, metric;
  std::optional<double> paper;
  Mark mark = Mark::our_choice;
  std::optional<double> ours;
  std::optional<bool> holds;
  std::string claim;  // for people, where `holds` is given; not in the JSON
};

// {"paper", "rows": [{"experiment", "setting", "scheduler", "metric", "paper", "mark", "ours", "holds"}]}
[[nodiscard]] std::string to_json(std::string_view paper, std::span<const Row> rows);
// The same fields, a line each, with a head.
[[nodiscard]] std::string to_csv(std::span<const Row> rows);

}  // namespace sluice::reproduce
