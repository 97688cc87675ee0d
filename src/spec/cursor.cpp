#include "spec/cursor.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec {
namespace {

std::string quote(std::string_view text) {
  return str("'", printable(text), "'");
}

std::string range_text(double low, double high) {
  return str("must be from ", low, " to ", high);
}

}  // namespace

Cursor Cursor::child(const Node& node, std::string_view name) const {
  return {node, file_, path_.empty() ? std::string(name) : str(path_, ".", name), *out_};
}

bool Cursor::is(Node::Kind kind) const {
  if (node_->kind == kind) return true;
  error(str("expected ", name_of(kind), ", got ",
            node_->kind == Node::Kind::scalar ? quote(node_->text) : std::string(name_of(node_->kind))));
  return false;
}

std::optional<std::string> Cursor::text() const {
  if (!is(Node::Kind::scalar)) return std::nullopt;
  if (node_->text.empty()) {
    error("is empty");
    return std::nullopt;
  }
  return node_->text;
}

std::optional<std::string> Cursor::name() const {
  auto name = text();
  if (!name || legal_name(*name)) return name;
  error(str(quote(*name), " is not a name: letters, digits, '-', '_' and blanks inside, at most ",
            limits::name_length_max, " characters"));
  return std::nullopt;
}

std::optional<std::int64_t> Cursor::integer(std::int64_t low, std::int64_t high) const {
  if (!is(Node::Kind::scalar)) return std::nullopt;
  const auto value = parse_int(node_->text);
  if (!value || node_->quoted) {
    const bool digits = !node_->text.empty() && node_->text.find_first_not_of("+-0123456789") == std::string::npos;
    if (digits && !node_->quoted)
      error(str(quote(node_->text), " is too large: must be from ", low, " to ", high));
    else
      error(str(quote(node_->text), " is not a whole number"));
    return std::nullopt;
  }
  if (*value < low || *value > high) {
    error(str("is ", *value, ", must be from ", low, " to ", high));
    return std::nullopt;
  }
  return value;
}

std::optional<double> Cursor::number(Range range) const {
  if (!is(Node::Kind::scalar)) return std::nullopt;
  const auto value = parse_double(node_->text);
  if (!value || node_->quoted) {
    error(str(quote(node_->text), " is not a number"));
    return std::nullopt;
  }
  if (*value < range.low || *value > range.high) {
    error(str("is ", *value, ", ", range_text(range.low, range.high)));
    return std::nullopt;
  }
  return value;
}

std::optional<bool> Cursor::boolean() const {
  if (!is(Node::Kind::scalar)) return std::nullopt;
  if (!node_->quoted && node_->text == "true") return true;
  if (!node_->quoted && node_->text == "false") return false;
  error(str(quote(node_->text), " is neither true nor false"));
  return std::nullopt;
}

std::optional<Duration> Cursor::duration() const {
  if (!is(Node::Kind::scalar)) return std::nullopt;
  const auto value = parse_duration(node_->text);
  if (!value) {
    if (parse_double(node_->text))
      error(str(quote(node_->text), " has no unit; write ", node_->text, "ms or ", node_->text, "s"));
    else
      error(str(quote(node_->text), " is not a duration; write a number and ns, us, ms, s, m or h, such as 420ms"));
    return std::nullopt;
  }
  if (*value < Duration{}) {
    error(str("is ", to_string(*value), ", must not be negative"));
    return std::nullopt;
  }
  if (*value > limits::duration_max) {
    error(str("is ", to_string(*value), ", must be at most ", to_string(limits::duration_max)));
    return std::nullopt;
  }
  return value;
}

std::optional<Bytes> Cursor::bytes() const {
  if (!is(Node::Kind::scalar)) return std::nullopt;
  const auto value = parse_bytes(node_->text);
  if (!value) {
    if (parse_double(node_->text))
      error(str(quote(node_->text), " has no unit; write ", node_->text, "MB or ", node_->text, "MiB"));
    else
      error(
          str(quote(node_->text), " is not a size; write a number and B, KB, MB, GB, KiB, MiB or GiB, such as 600MB"));
    return std::nullopt;
  }
  if (*value < Bytes{}) {
    error(str("is ", to_string(*value), ", must not be negative"));
    return std::nullopt;
  }
  return value;
}

std::optional<double> Cursor::bytes_per_second() const {
  if (!is(Node::Kind::scalar)) return std::nullopt;
  const std::string_view text = node_->text;
  const auto value = text.ends_with("/s") ? parse_bytes(text.substr(0, text.size() - 2)) : std::nullopt;
  if (value && *value > Bytes{}) return static_cast<double>(value->count());
  error(str(quote(text), " is not a rate; write a positive size per second, such as 125MB/s"));
  return std::nullopt;
}

std::optional<std::size_t> Cursor::choice(std::span<const std::string_view> names) const {
  const auto value = text();
  if (!value) return std::nullopt;
  const auto it = std::find(names.begin(), names.end(), *value);
  if (it != names.end()) return static_cast<std::size_t>(it - names.begin());
  error(str(quote(*value), " is not known.", suggestion(*value, names)));
  return std::nullopt;
}

std::vector<Cursor> Cursor::items(bool or_one) const {
  if (or_one && node_->kind == Node::Kind::scalar) return {*this};
  std::vector<Cursor> out;
  if (!is(Node::Kind::sequence)) return out;
  for (std::size_t i = 0; i < node_->items.size(); ++i) {
    out.emplace_back(node_->items[i], file_, str(path_, "[", i, "]"), *out_);
  }
  return out;
}

Fields::Fields(const Cursor& cursor) : cursor_(cursor), valid_(cursor.is(Node::Kind::map)) {
  if (!valid_) return;
  std::set<std::string_view> seen;
  for (const Entry& entry : cursor_.node().entries) {
    if (!seen.insert(entry.key).second)
      cursor_.error_at(entry.mark, str("the field ", quote(entry.key), " appears twice"));
  }
}

std::optional<Cursor> Fields::optional(std::string_view name) {
  known_.push_back(name);
  const Node* node = valid_ ? cursor_.node().find(name) : nullptr;
  if (node == nullptr) return std::nullopt;
  return cursor_.child(*node, name);
}

std::optional<Cursor> Fields::required(std::string_view name, std::string_view example) {
  auto field = optional(name);
  if (!field && valid_) cursor_.error(str("the field '", name, "' is missing; write ", example));
  return field;
}

void Fields::finish() {
  if (!valid_) return;
  for (const Entry& entry : cursor_.node().entries) {
    if (std::find(known_.begin(), known_.end(), entry.key) != known_.end()) continue;
    // Past the limit nobody reads the suggestion, and finding it for a hundred thousand fields takes half a minute.
    const bool shown = cursor_.diagnostics().errors() < limits::errors_reported_max;
    cursor_.error_at(entry.mark,
                     str("unknown field ", quote(entry.key), ".", shown ? suggestion(entry.key, known_) : ""));
  }
}

std::vector<NamedCursor> named_entries(const Cursor& cursor, NameRule rule) {
  std::vector<NamedCursor> out;
  if (!cursor.is(Node::Kind::map)) return out;
  std::set<std::string_view> seen;
  for (const Entry& entry : cursor.node().entries) {
    if (!seen.insert(entry.key).second) {
      cursor.error_at(entry.mark, str(quote(entry.key), " appears twice"));
    } else if (!legal_name(entry.key, rule)) {
      cursor.error_at(entry.mark,
                      str(quote(entry.key), " is not a name: letters, digits, '-', '_' and blanks inside, at most ",
                          limits::name_length_max, " characters"));
    } else {
      out.push_back({entry.key, entry.mark, cursor.child(entry.value, entry.key)});
    }
  }
  return out;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr std::size_t kListedMax = 16;
  if (const auto near = nearest(name, candidates)) return str(" Did you mean '", *near, "'?");
  if (candidates.empty() || candidates.size() > kListedMax) return "";
  std::string out = " Known: ";
  for (const std::string_view candidate : candidates) out += str(out.ends_with(": ") ? "" : ", ", candidate);
  return out + ".";
}

bool legal_name(std::string_view name, NameRule rule) {
  const std::string_view signs = rule == NameRule::port ? "_- .:/" : "_- ";
  const auto inner = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           signs.find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= limits::name_length_max && std::all_of(name.begin(), name.end(), inner) &&
         name.front() != ' ' && name.front() != '-' && name.back() != ' ';
}

}  // namespace sluice::spec
