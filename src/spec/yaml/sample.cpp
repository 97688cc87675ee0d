// `sample:` of a function: one invocation's inputs, inline or in a JSON file, as the text of a JSON object.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/json_reader.h"
#include "spec/yaml/documents.h"

namespace sluice::spec {
namespace {

enum class Leaf { whole, number, flag, text };

constexpr std::string_view name_of(Leaf leaf) {
  constexpr std::array<std::string_view, 4> kNames = {"a whole number", "a number", "true or false", "a text"};
  return kNames[static_cast<std::size_t>(leaf)];
}

Leaf leaf_of(const Node& node) {
  if (node.quoted) return Leaf::text;
  if (node.text == "true" || node.text == "false") return Leaf::flag;
  if (parse_int(node.text)) return Leaf::whole;
  return parse_double(node.text) ? Leaf::number : Leaf::text;
}

// What values of a declared type have to be.
Leaf wanted_by(DataType type) {
  switch (type) {
    case DataType::bytes:
      return Leaf::text;
    case DataType::boolean:
      return Leaf::flag;
    case DataType::fp16:
    case DataType::bf16:
    case DataType::fp32:
    case DataType::fp64:
      return Leaf::number;
    default:
      return Leaf::whole;
  }
}

void append_text(std::string& out, std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += str('\\', c);
    else if (byte < 0x20)
      out += str("\\u00", kDigits[byte >> 4], kDigits[byte & 15]);
    else
      out += c;
  }
  out += '"';
}

void append_leaf(std::string& out, const Node& node, Leaf leaf) {
  if (leaf == Leaf::text) return append_text(out, node.text);
  if (leaf == Leaf::flag) {
    out += node.text;
    return;
  }
  if (leaf == Leaf::whole) {
    out += str(*parse_int(node.text));
    return;
  }
  out += str(*parse_double(node.text));
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string out;
  for (const std::int64_t length : shape) out += str(out.empty() ? "" : ", ", length);
  return str("[", out, "]");
}

// The value of one input.
class ValueReader {
 public:
  ValueReader(const Cursor& cursor, const Port* port) : cursor_(cursor), port_(port) {
    for (const Node* node = &cursor.node(); node->kind == Node::Kind::sequence;) {
      shape_.push_back(static_cast<std::int64_t>(node->items.size()));
      if (node->items.empty()) break;
      node = &node->items.front();
    }
    if (port != nullptr) wanted_ = wanted_by(port->type);
  }

  bool append(std::string& out) {
    if (cursor_.node().kind == Node::Kind::map || cursor_.node().kind == Node::Kind::null) {
      cursor_.error("is no value of an input; write a number, a text, true or false, or nested lists of one of them");
      return false;
    }
    if (shape_.size() > limits::tensor_rank_max) {
      cursor_.error(str("has ", shape_.size(), " dimensions, at most ", limits::tensor_rank_max, " are allowed"));
      return false;
    }
    if (!fits()) {
      cursor_.error(str("has shape ", shape_text(shape_), ", declared is ", shape_text(port_->shape),
                        ": one item, without a dimension for the batch"));
      return false;
    }
    return append(cursor_.node(), 0, out);
  }

 private:
  // A single value stands for shape [] and [1].
  [[nodiscard]] bool fits() const {
    if (port_ == nullptr) return true;
    const std::vector<std::int64_t> found =
        shape_.empty() && port_->shape.size() == 1 ? std::vector{std::int64_t{1}} : shape_;
    const auto same = [](std::int64_t declared, std::int64_t length) { return declared < 0 || declared == length; };
    return std::equal(port_->shape.begin(), port_->shape.end(), found.begin(), found.end(), same);
  }

  bool append(const Node& node, std::size_t depth, std::string& out) {
    if (depth == shape_.size()) return append_value(node, out);
    if (node.kind != Node::Kind::sequence || static_cast<std::int64_t>(node.items.size()) != shape_[depth]) {
      cursor_.error_at(node.mark, "lists inside of a list have to be of one length");
      return false;
    }
    out += '[';
    for (const Node& item : node.items) {
      if (&item != &node.items.front()) out += ',';
      if (!append(item, depth + 1, out)) return false;
    }
    out += ']';
    return true;
  }

  bool append_value(const Node& node, std::string& out) {
    if (node.kind != Node::Kind::scalar) {
      cursor_.error_at(node.mark, "lists inside of a list have to be of one length");
      return false;
    }
    const Leaf leaf = leaf_of(node);
    const bool numbers = leaf == Leaf::whole && wanted_ == Leaf::number;
    const bool widens = port_ == nullptr && wanted_ == Leaf::whole && leaf == Leaf::number;
    if (wanted_ && leaf != *wanted_ && !numbers && !widens) {
      cursor_.error_at(node.mark, port_ != nullptr ? str("'", printable(node.text), "' is ", name_of(leaf), ", input '",
                                                         port_->name, "' is declared ", sluice::name_of(port_->type))
                                                   : str("'", printable(node.text), "' is ", name_of(leaf),
                                                         ", others are ", name_of(*wanted_)));
      return false;
    }
    if (!wanted_ || widens) wanted_ = leaf;
    append_leaf(out, node, leaf);
    return true;
  }

  const Cursor& cursor_;
  const Port* port_;  // null: not declared
  std::vector<std::int64_t> shape_;
  std::optional<Leaf> wanted_;  // of its values; not declared: like those before
};

std::string read_object(const Cursor& cursor, const Function& function) {
  std::string out = "{";
  bool right = true;
  std::vector<std::string_view> names;
  for (const Port& port : function.inputs) names.push_back(port.name);
  const auto entries = named_entries(cursor, NameRule::port);
  for (const NamedCursor& entry : entries) {
    const auto port = std::ranges::find(function.inputs, entry.name, &Port::name);
    if (port == function.inputs.end() && !function.inputs.empty()) {
      cursor.error_at(entry.mark, str("there is no input '", entry.name, "'.", suggestion(entry.name, names)));
      right = false;
      continue;
    }
    if (out.size() > 1) out += ',';
    append_text(out, entry.name);
    out += ':';
    right = ValueReader(entry.value, port == function.inputs.end() ? nullptr : &*port).append(out) && right;
  }
  for (const std::string_view name : names) {
    const auto same = [&](const NamedCursor& entry) { return entry.name == name; };
    if (std::ranges::any_of(entries, same)) continue;
    cursor.error(str("has no value for input '", name, "'"));
    right = false;
  }
  return right ? out + "}" : "";
}

}  // namespace

std::string read_sample(const Cursor& sample, const Function& function, Includes& includes) {
  if (sample.node().kind != Node::Kind::scalar) {
    return sample.is(Node::Kind::map) ? read_object(sample, function) : "";
  }
  const auto name = sample.text();
  if (!name) return "";
  const std::string path = beside(sample.file(), *name);
  const auto text = includes.text(path, sample.file(), sample.mark(), sample.path());
  const auto node = text ? read_json(*text, path, includes.diagnostics()) : std::nullopt;
  if (!node) return "";
  const Cursor object(*node, path, "", includes.diagnostics());
  return object.is(Node::Kind::map) ? read_object(object, function) : "";
}

}  // namespace sluice::spec
