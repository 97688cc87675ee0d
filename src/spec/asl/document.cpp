#include "spec/asl/document.h"

#include <algorithm>
#include <span>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::asl {
namespace {

using Key = std::pair<std::string_view, Value>;
using Steps = std::span<const PathStep>;

auto find_key(const std::vector<Key>& keys, std::string_view key) {
  return std::lower_bound(keys.begin(), keys.end(), key, [](const Key& a, std::string_view b) { return a.first < b; });
}

Value mixed(const Value& a, const State* from_a, const State* from_b) {
  if (a.kind == Value::Kind::mixed) return a;  // keeps the states where the ways first met
  return {Value::Kind::mixed, from_a, from_b};
}

Error error(std::string message) {
  return {ErrorCode::invalid, std::move(message)};
}

std::string quote(const State* state) {
  return str("'", state->name(), "'");
}

// A reference to a stage (or the request) and at most one name in it.
Result<std::string> plain(std::string stage, Steps rest) {
  if (rest.empty()) return stage;
  if (rest.size() == 1 && rest.front().kind == PathStep::Kind::key) return str(stage, ".", rest.front().key);
  return error(str("leads beyond an output of '", stage, "'; paths beyond plain references are not supported"));
}

Result<std::string> refer(const Document& document, Steps steps, const BranchResults& results);

Result<std::string> refer_list(const State* parallel, Steps rest, const BranchResults& results) {
  const auto& branches = results.at(parallel);
  if (rest.empty() || rest.front().kind != PathStep::Kind::position) {
    return error(str("the result of the Parallel ", quote(parallel),
                     " is a list; take one branch of it, such as \"$[0].NAME\""));
  }
  const std::size_t position = rest.front().position;
  if (position >= branches.size())
    return error(str(quote(parallel), " has ", branches.size(), " branches, counted from 0"));
  if (!branches[position])
    return error(str("branch ", position, " of ", quote(parallel), " has no result, it only fails"));
  return refer(*branches[position], rest.subspan(1), results);
}

Result<std::string> refer_value(const Value& value, Steps rest, const BranchResults& results) {
  switch (value.kind) {
    case Value::Kind::unknown:
      break;
    case Value::Kind::request:
      return plain("request", rest);
    case Value::Kind::output: {
      // All items of a Map: its outputs are stacked, so that a name refers to all of them anyway.
      const bool every =
          value.state->type == StateType::map && !rest.empty() && rest.front().kind == PathStep::Kind::every;
      return plain(value.state->name(), every ? rest.subspan(1) : rest);
    }
    case Value::Kind::list:
      return refer_list(value.state, rest, results);
    case Value::Kind::error:
      return error(str("what the Catch of ", quote(value.state),
                       " received cannot be read; \"ResultPath\": null in it keeps the "
                       "document as it was"));
    case Value::Kind::mixed:
      return error(str("is not the same on all ways: after ", quote(value.state), " and after ", quote(value.other),
                       " the document differs; keep results apart with ResultPath"));
  }
  return error("has no value");
}

Result<std::string> refer(const Document& document, Steps steps, const BranchResults& results) {
  if (steps.empty() && !document.keys.empty()) {
    return error(str("the whole document is put together from several states by ResultPath; name a part of it"));
  }
  if (!steps.empty() && steps.front().kind == PathStep::Kind::key) {
    const auto it = find_key(document.keys, steps.front().key);
    if (it != document.keys.end() && it->first == steps.front().key)
      return refer_value(it->second, steps.subspan(1), results);
  }
  return refer_value(document.root, steps, results);
}

}  // namespace

DocumentPtr with_key(const Document& document, std::string_view key, const Value& value) {
  auto out = std::make_shared<Document>(document);
  const auto place = find_key(document.keys, key) - document.keys.begin();
  if (static_cast<std::size_t>(place) < out->keys.size() && out->keys[static_cast<std::size_t>(place)].first == key) {
    out->keys[static_cast<std::size_t>(place)].second = value;
    return out;
  }
  if (out->keys.size() >= limits::asl_results_max) return nullptr;
  out->keys.insert(out->keys.begin() + place, {key, value});
  return out;
}

DocumentPtr merge(const DocumentPtr& a, const State* from_a, const DocumentPtr& b, const State* from_b) {
  if (a == b || *a == *b) return a;
  auto out = std::make_shared<Document>();
  out->root = a->root == b->root ? a->root : mixed(a->root, from_a, from_b);
  for (const auto& [key, value] : a->keys) {
    const auto it = find_key(b->keys, key);
    const bool same = it != b->keys.end() && it->first == key && it->second == value;
    out->keys.emplace_back(key, same ? value : mixed(value, from_a, from_b));
  }
  for (const auto& [key, value] : b->keys) {
    const auto it = find_key(out->keys, key);
    if (it == out->keys.end() || it->first != key) out->keys.insert(it, {key, mixed({}, from_a, from_b)});
  }
  // Keys that differ need no place of their own under a root that differs; giving up the root keeps documents small.
  if (out->keys.size() > limits::asl_results_max) out->root = mixed(out->root, from_a, from_b);
  if (out->root.kind == Value::Kind::mixed) {
    std::erase_if(out->keys, [](const Key& key) { return key.second.kind == Value::Kind::mixed; });
  }
  return out;
}

Result<std::string> reference(std::string_view text, const Document& document, const BranchResults& results) {
  const auto path = parse_path(text);
  if (!path.ok()) return path.error();
  auto out = refer(document, *path, results);
  if (out.ok()) return out;
  return error(str("'", printable(text), "': ", out.error().message));
}

std::string describe(const Value& value) {
  return value.kind == Value::Kind::request ? "the request" : value.state == nullptr ? "nothing" : quote(value.state);
}

}  // namespace sluice::spec::asl
