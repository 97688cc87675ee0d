// Node: a document as a tree with positions, whatever its format (YAML, JSON, protobuf text). Readers build it, the
// three document formats are read from it, so that every error can name file, line, column and field.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sluice::spec {

// Counted from 1; line 0 means "the file as a whole".
struct Mark {
  int line = 0, column = 0;
  friend auto operator<=>(const Mark&, const Mark&) = default;
};

struct Entry;

struct Node {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  bool quoted = false;  // a scalar in quotes is text, whatever it looks like
  std::string text;     // scalar
  Mark mark;
  std::vector<Node> items;     // sequence
  std::vector<Entry> entries;  // map, in document order, duplicates kept

  // The first entry with this key; nullptr if there is none or this is no map.
  [[nodiscard]] const Node* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Mark mark;  // of the key
  Node value;
};

[[nodiscard]] std::string_view name_of(Node::Kind kind);  // "a mapping"

}  // namespace sluice::spec
