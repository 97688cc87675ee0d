// Cursor: one node of a document being read, with its path, its file and the list that collects errors. Every typed
// value in every document is read through it, so that units, ranges and texts of errors are the same everywhere.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/time.h"
#include "spec/diagnostics.h"

namespace sluice::spec {

// Inclusive.
struct Range {
  double low, high;
};

class Cursor {
 public:
  Cursor(const Node& node, std::string file, std::string path, Diagnostics& out)
      : node_(&node), file_(std::move(file)), path_(std::move(path)), out_(&out) {}

  [[nodiscard]] const Node& node() const { return *node_; }
  [[nodiscard]] Mark mark() const { return node_->mark; }
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] Diagnostics& diagnostics() const { return *out_; }
  [[nodiscard]] Cursor child(const Node& node, std::string_view name) const;  // path "parent.name"

  void error(std::string message) const { out_->error(file_, mark(), path_, std::move(message)); }
  void error_at(Mark mark, std::string message) const { out_->error(file_, mark, path_, std::move(message)); }
  void warning(std::string message) const { out_->warning(file_, mark(), path_, std::move(message)); }

  // Each reads the node as that type, or reports why it is none and gives nothing.
  [[nodiscard]] std::optional<std::string> text() const;
  [[nodiscard]] std::optional<std::string> name() const;  // letters, digits, - and _, blanks inside
  [[nodiscard]] std::optional<std::int64_t> integer(std::int64_t low, std::int64_t high) const;
  [[nodiscard]] std::optional<double> number(Range range) const;
  [[nodiscard]] std::optional<bool> boolean() const;
  [[nodiscard]] std::optional<Duration> duration() const;        // "420ms", not negative
  [[nodiscard]] std::optional<Bytes> bytes() const;              // "600MB", not negative
  [[nodiscard]] std::optional<double> bytes_per_second() const;  // "125MB/s", positive
  [[nodiscard]] std::optional<std::size_t> choice(std::span<const std::string_view> names) const;  // its position
  // A list; with `or_one` a single value counts as a list of one. Empty with an error if it is neither.
  [[nodiscard]] std::vector<Cursor> items(bool or_one = false) const;
  // Reports `got` against `wanted` unless the node has this kind.
  [[nodiscard]] bool is(Node::Kind kind) const;

 private:
  const Node* node_;
  std::string file_;
  std::string path_;
  Diagnostics* out_;
};

// The fields of a mapping. Duplicate keys are reported at once, fields nobody asked for by finish(), with the nearest
// name that was asked for.
class Fields {
 public:
  explicit Fields(const Cursor& cursor);
  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] std::optional<Cursor> optional(std::string_view name);
  [[nodiscard]] std::optional<Cursor> required(std::string_view name, std::string_view example);
  void finish();
  void error(std::string message) const { cursor_.error(std::move(message)); }  // of the mapping as a whole

 private:
  Cursor cursor_;
  bool valid_;
  std::vector<std::string_view> known_;
};

// All entries of a mapping whose keys are names chosen by the user; duplicates and illegal names are reported.
struct NamedCursor {
  std::string name;
  Mark mark;
  Cursor value;
};
enum class NameRule {
  plain,  // stages, functions, applications: letters, digits, - and _, blanks inside
  port,   // inputs and outputs, which models name: also . : and /
};
[[nodiscard]] std::vector<NamedCursor> named_entries(const Cursor& cursor, NameRule rule = NameRule::plain);

// " Did you mean 'latency'?" or, with few candidates, " Known: a, b." or nothing.
[[nodiscard]] std::string suggestion(std::string_view name, std::span<const std::string_view> candidates);
[[nodiscard]] bool legal_name(std::string_view name, NameRule rule = NameRule::plain);

}  // namespace sluice::spec
