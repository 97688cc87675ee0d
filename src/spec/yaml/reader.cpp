#include "spec/yaml/reader.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <sstream>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec {
namespace {

Mark mark_of(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1};
}

// Builds the tree from yaml-cpp's events. A fault stops the building; the remaining events are ignored.
class TreeBuilder : public YAML::EventHandler {
 public:
  struct Fault {
    Mark mark;
    std::string message;
  };
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }
  [[nodiscard]] std::optional<Node> take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { leaf(Node{.mark = mark_of(mark)}, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    const bool quoted = tag == "!";  // yaml-cpp's sign for a scalar in quotes
    if (!quoted && (value == "~" || value == "null")) return leaf(Node{.mark = mark_of(mark)}, anchor);
    leaf(Node{.kind = Node::Kind::scalar, .quoted = quoted, .text = value, .mark = mark_of(mark)}, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    if (fault_) return;
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) return fail(mark_of(mark), "an alias inside its own anchor");
    expanded_ += it->second.nodes;
    if (expanded_ > limits::document_alias_nodes_max)
      return fail(mark_of(mark), str("aliases expand to more than ", limits::document_alias_nodes_max, " values"));
    if (count(it->second.nodes)) place(it->second.node, it->second.nodes);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::sequence, mark_of(mark), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark_of(mark), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    std::size_t nodes = 1;       // in this subtree, with aliases expanded
    std::optional<Entry> entry;  // map: a key whose value is still to come
  };
  struct Anchored {
    Node node;
    std::size_t nodes;
  };

  void fail(Mark mark, std::string message) {
    if (!fault_) fault_ = Fault{mark, std::move(message)};
  }
  // Counts nodes against the limit.
  bool count(std::size_t nodes) {
    total_ += nodes;
    if (total_ <= limits::document_nodes_max) return true;
    fail({}, str("has more than ", limits::document_nodes_max, " values"));
    return false;
  }
  void leaf(Node node, YAML::anchor_t anchor) {
    if (fault_ || !count(1)) return;
    remember(anchor, node, 1);
    place(std::move(node), 1);
  }
  void open(Node::Kind kind, Mark mark, YAML::anchor_t anchor) {
    if (fault_ || !count(1)) return;
    if (stack_.size() >= limits::document_depth_max)
      return fail(mark, str("nested deeper than ", limits::document_depth_max, " levels"));
    stack_.push_back({.node = {.kind = kind, .mark = mark}, .anchor = anchor});
  }
  void close() {
    if (fault_) return;
    Open done = std::move(stack_.back());
    stack_.pop_back();
    remember(done.anchor, done.node, done.nodes);
    place(std::move(done.node), done.nodes);
  }
  void remember(YAML::anchor_t anchor, const Node& node, std::size_t nodes) {
    if (anchor != 0 && count(nodes)) anchors_[anchor] = {node, nodes};
  }
  // Puts a finished node where it belongs: the root, a list, or a key or value of a mapping.
  void place(Node node, std::size_t nodes) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    parent.nodes += nodes;
    if (parent.node.kind == Node::Kind::sequence) {
      parent.node.items.push_back(std::move(node));
    } else if (parent.entry) {
      parent.entry->value = std::move(node);
      parent.node.entries.push_back(std::move(*parent.entry));
      parent.entry.reset();
    } else if (node.kind == Node::Kind::scalar) {
      parent.entry = Entry{.key = std::move(node.text), .mark = node.mark, .value = {}};
    } else {
      fail(node.mark, "a key must be a single value");
    }
  }

  std::vector<Open> stack_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::optional<Node> root_;
  std::optional<Fault> fault_;
  std::size_t total_ = 0, expanded_ = 0;
};

}  // namespace

std::optional<Node> read_yaml(std::string_view text, const std::string& file, Diagnostics& out) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    const bool any = parser.HandleNextDocument(builder);
    if (builder.fault()) {
      out.error(file, builder.fault()->mark, "", builder.fault()->message);
      return std::nullopt;
    }
    auto root = builder.take();
    if (!any || !root || root->kind == Node::Kind::null) {
      out.error(file, {}, "", "the document is empty");
      return std::nullopt;
    }
    TreeBuilder second;
    if (parser.HandleNextDocument(second)) {
      out.error(file, {}, "", "holds more than one document; put each into a file of its own");
      return std::nullopt;
    }
    return root;
  } catch (const YAML::Exception& e) {
    out.error(file, e.mark.is_null() ? Mark{} : mark_of(e.mark), "", str("not valid YAML: ", e.msg));
  } catch (const std::exception& e) {
    out.error(file, {}, "", str("not valid YAML: ", e.what()));
  }
  return std::nullopt;
}

}  // namespace sluice::spec
