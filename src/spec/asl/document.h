// The document that ASL passes from state to state, followed without its content: which stage put out which part of it.
// It turns paths ("$.boxes") into references ("Detect.boxes").
#pragma once
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "spec/asl/machine.h"
#include "spec/asl/paths.h"

namespace sluice::spec::asl {

// Where a part of the document comes from.
struct Value {
  enum class Kind {
    unknown,
    request,  // the inputs of the call; inside a Map the item
    output,   // of `state`
    list,     // the results of the branches of the Parallel `state`
    error,    // what a Catch of `state` received
    mixed,    // not the same after `state` and after `other`
  };
  Kind kind = Kind::unknown;
  const State* state = nullptr;
  const State* other = nullptr;
  friend bool operator==(const Value&, const Value&) = default;
};

struct Document {
  Value root;
  std::vector<std::pair<std::string_view, Value>> keys;  // set by ResultPath, sorted
  friend bool operator==(const Document&, const Document&) = default;
};
using DocumentPtr = std::shared_ptr<const Document>;  // shared by all states that leave it as it is

// What the branches of each Parallel end with; null for a branch that only fails. Looked up, never iterated.
using BranchResults = std::map<const State*, std::vector<DocumentPtr>>;

// The document with `key` set; null if it would have more than limits::asl_results_max.
[[nodiscard]] DocumentPtr with_key(const Document& document, std::string_view key, const Value& value);
// What holds both after `from_a` with `a` and after `from_b` with `b`.
[[nodiscard]] DocumentPtr merge(const DocumentPtr& a, const State* from_a, const DocumentPtr& b, const State* from_b);
// The reference for the path in `text`, such as "Detect.boxes", or why there is none.
[[nodiscard]] Result<std::string> reference(std::string_view text, const Document& document,
                                            const BranchResults& results);
// For people: "the request", "'Detect'".
[[nodiscard]] std::string describe(const Value& value);

}  // namespace sluice::spec::asl
