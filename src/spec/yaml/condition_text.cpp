#include "spec/yaml/condition_text.h"

#include <array>

#include "base/text.h"

namespace sluice::spec {
namespace {

// Longer symbols first, so that "<=" is not read as "<".
constexpr std::array<Comparator, 6> kOperators = {Comparator::equal,      Comparator::not_equal,
                                                  Comparator::less_equal, Comparator::greater_equal,
                                                  Comparator::less,       Comparator::greater};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Literal literal_of(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front()) {
    return std::string(text.substr(1, text.size() - 2));
  }
  if (text == "true") return true;
  if (text == "false") return false;
  if (const auto number = parse_double(text)) return *number;
  return std::string(text);
}

}  // namespace

std::optional<std::pair<Comparator, Literal>> parse_condition(const Node& scalar) {
  if (scalar.kind != Node::Kind::scalar) return std::nullopt;
  const std::string_view text = trimmed(scalar.text);
  if (text == "present") return std::pair{Comparator::present, Literal(true)};
  if (text == "absent") return std::pair{Comparator::present, Literal(false)};
  if (text.starts_with("matches "))
    return std::pair{Comparator::matches, Literal(std::string(trimmed(text.substr(8))))};
  for (const Comparator comparator : kOperators) {
    const std::string_view symbol = symbol_of(comparator);
    if (!text.starts_with(symbol)) continue;
    const std::string_view right = trimmed(text.substr(symbol.size()));
    if (right.empty()) return std::nullopt;
    Literal literal = literal_of(right);
    const bool orders = comparator != Comparator::equal && comparator != Comparator::not_equal;
    if (orders && std::holds_alternative<bool>(literal)) return std::nullopt;
    return std::pair{comparator, std::move(literal)};
  }
  if (text.empty()) return std::nullopt;
  return std::pair{Comparator::equal, scalar.quoted ? Literal(scalar.text) : literal_of(text)};
}

std::string condition_text(Comparator comparator, const Literal& literal) {
  if (comparator == Comparator::present) return std::get<bool>(literal) ? "present" : "absent";
  if (comparator == Comparator::matches) return str("matches ", std::get<std::string>(literal));
  if (const auto* flag = std::get_if<bool>(&literal)) return str(symbol_of(comparator), " ", *flag ? "true" : "false");
  if (const auto* number = std::get_if<double>(&literal)) return str(symbol_of(comparator), " ", *number);
  return str(symbol_of(comparator), " \"", std::get<std::string>(literal), "\"");
}

}  // namespace sluice::spec
