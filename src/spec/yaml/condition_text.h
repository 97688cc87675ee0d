// The right-hand side of a condition in our YAML: "< 0.85", "== car", "present", "matches img-*".
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "domain/condition.h"
#include "spec/tree.h"

namespace sluice::spec {

// What a scalar says: a comparator and a literal. A plain value means equality; text in quotes after an operator is
// text, else true, false and numbers are what they look like. Nothing if it cannot be read ("<").
[[nodiscard]] std::optional<std::pair<Comparator, Literal>> parse_condition(const Node& scalar);
// The text that parse_condition reads back.
[[nodiscard]] std::string condition_text(Comparator comparator, const Literal& literal);

}  // namespace sluice::spec
