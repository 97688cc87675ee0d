#include "spec/asl/paths.h"

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::asl {
namespace {

constexpr std::size_t kStepsMax = 16;
constexpr std::size_t kPositionDigitsMax = 4;

Error refused(std::string_view text, std::string_view what) {
  return {ErrorCode::invalid,
          str("'", printable(text), "' ", what, "; paths beyond plain references are not supported")};
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Characters at the start of `rest` that satisfy `wanted`.
template <class Wanted>
std::string_view take_while(std::string_view& rest, const Wanted& wanted) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), wanted);
  const std::string_view taken = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
  rest.remove_prefix(taken.size());
  return taken;
}

// Takes one step off `rest`; false if there is none that we know.
bool take_step(std::string_view& rest, PathStep& step) {
  if (rest.starts_with("[*]")) {
    step.kind = PathStep::Kind::every;
    rest.remove_prefix(3);
    return true;
  }
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    step.key = take_while(rest, is_key_character);
    return !step.key.empty() && step.key.front() != '-' && step.key.size() <= limits::name_length_max;
  }
  if (!rest.starts_with('[')) return false;
  rest.remove_prefix(1);
  const std::string_view digits = take_while(rest, [](char c) { return c >= '0' && c <= '9'; });
  if (digits.empty() || digits.size() > kPositionDigitsMax || !rest.starts_with(']')) return false;
  rest.remove_prefix(1);
  step.kind = PathStep::Kind::position;
  step.position = static_cast<std::size_t>(*parse_int(digits));
  return true;
}

}  // namespace

Result<Path> parse_path(std::string_view text) {
  if (text.starts_with("$$")) return refused(text, "reads the context object");
  if (text.starts_with("States.")) return refused(text, "calls an intrinsic function");
  if (!text.starts_with('$')) return refused(text, "is not a path: it must start with '$'");
  Path path;
  for (std::string_view rest = text.substr(1); !rest.empty();) {
    PathStep step;
    if (path.size() >= kStepsMax || !take_step(rest, step)) return refused(text, "is more than names and positions");
    path.push_back(step);
  }
  return path;
}

}  // namespace sluice::spec::asl
