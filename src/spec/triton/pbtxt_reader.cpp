#include "spec/triton/pbtxt_reader.h"

#include <map>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/triton/pbtxt_lexer.h"

namespace sluice::spec {
namespace {

using Kind = PbtxtToken::Kind;

std::string describe(const PbtxtToken& token) {
  switch (token.kind) {
    case Kind::end:
      return "the end of the file";
    case Kind::string:
      return "a string";
    default:
      return str("'", printable(token.text), "'");
  }
}

// A recursive descent with one token of look-ahead; its depth is limited. The first fault ends it.
class Parser {
 public:
  struct Fault {
    Mark mark;
    std::string message;
  };

  explicit Parser(std::string_view text) : lexer_(text) { advance(); }
  [[nodiscard]] const std::optional<Fault>& fault() const { return fault_; }

  [[nodiscard]] Node document() {
    Node root{.kind = Node::Kind::map, .mark = {1, 1}};
    fields(root, Bracket{});
    return root;
  }

 private:
  // The bracket a message or list stands in; without a symbol: the file itself.
  struct Bracket {
    std::string close;
    PbtxtToken open;
  };

  void fail(Mark mark, std::string message) {
    if (!fault_) fault_ = Fault{mark, std::move(message)};
  }
  void advance() {
    token_ = lexer_.next();
    if (token_.kind == Kind::fault) fail(token_.mark, token_.text);
  }
  [[nodiscard]] bool at(std::string_view symbol) const { return token_.kind == Kind::symbol && token_.text == symbol; }
  [[nodiscard]] bool take(std::string_view symbol) {
    if (fault_ || !at(symbol)) return false;
    advance();
    return true;
  }
  void expected(std::string_view what, const Bracket& in) {
    std::string message = str("expected ", what, ", got ", describe(token_));
    const bool closing = token_.kind == Kind::end || at("}") || at(">") || at("]");
    if (closing && !in.close.empty())
      message += str("; the '", in.open.text, "' in line ", in.open.mark.line, ", column ", in.open.mark.column,
                     " is still open");
    fail(token_.mark, std::move(message));
  }
  [[nodiscard]] Bracket open() {
    Bracket bracket{.close = token_.text == "{" ? "}" : token_.text == "<" ? ">" : "]", .open = token_};
    if (++depth_ > limits::document_depth_max)
      fail(token_.mark, str("nested deeper than ", limits::document_depth_max, " levels"));
    advance();
    return bracket;
  }
  void close() {
    --depth_;
    advance();
  }
  void count(Mark mark) {
    if (++nodes_ > limits::document_nodes_max) fail(mark, str("more than ", limits::document_nodes_max, " values"));
  }

  void fields(Node& message, const Bracket& in) {
    std::map<std::string, std::size_t> positions;  // key → entry, so that repeated fields are merged in linear time
    while (!fault_) {
      if (in.close.empty() ? token_.kind == Kind::end : at(in.close)) return;
      if (at("[")) return fail(token_.mark, "extensions and Any messages in [brackets] are not supported");
      if (token_.kind != Kind::identifier)
        return expected(in.close.empty() ? "a field name" : str("a field name or '", in.close, "'"), in);
      Entry entry{.key = token_.text, .mark = token_.mark};
      advance();
      entry.value = field_value(entry.key, in);
      if (fault_) return;
      if (!take(",")) (void)take(";");
      const auto [it, fresh] = positions.emplace(entry.key, message.entries.size());
      if (fresh)
        message.entries.push_back(std::move(entry));
      else
        merge(message.entries[it->second].value, std::move(entry.value));
    }
  }

  static void merge(Node& into, Node value) {
    if (into.kind != Node::Kind::sequence) {
      Node list{.kind = Node::Kind::sequence, .mark = into.mark};
      list.items.push_back(std::move(into));
      into = std::move(list);
    }
    if (value.kind != Node::Kind::sequence) return into.items.push_back(std::move(value));
    for (Node& item : value.items) into.items.push_back(std::move(item));
  }

  [[nodiscard]] Node field_value(std::string_view key, const Bracket& in) {
    const bool colon = take(":");
    if (at("[")) return list();
    if (at("{") || at("<")) return message();
    if (colon) return scalar(in);
    expected(str("':' or '{' after '", printable(key), "'"), in);
    return {};
  }

  [[nodiscard]] Node message() {
    Node node{.kind = Node::Kind::map, .mark = token_.mark};
    count(node.mark);
    const Bracket bracket = open();
    fields(node, bracket);
    if (!fault_) close();
    return node;
  }

  [[nodiscard]] Node list() {
    Node node{.kind = Node::Kind::sequence, .mark = token_.mark};
    count(node.mark);
    const Bracket bracket = open();
    if (!at("]")) {
      do {
        if (at("[")) fail(token_.mark, "a list inside a list");
        if (at("]")) fail(token_.mark, "a comma before ']'; the last value of a list has none");
        if (!fault_) node.items.push_back(at("{") || at("<") ? message() : scalar(bracket));
      } while (take(","));
      if (!fault_ && !at("]")) expected("',' or ']'", bracket);
    }
    if (!fault_) close();
    return node;
  }

  [[nodiscard]] Node scalar(const Bracket& in) {
    Node node{.kind = Node::Kind::scalar, .mark = token_.mark};
    count(node.mark);
    if (token_.kind == Kind::string) {
      node.quoted = true;
      for (; !fault_ && token_.kind == Kind::string; advance()) node.text += token_.text;
      return node;
    }
    if (take("-")) node.text = "-";
    if (token_.kind != Kind::number && token_.kind != Kind::identifier)
      expected("a value", in);
    else if (token_.kind == Kind::identifier && node.text == "-" && !infinity_or_nan(token_.text))
      expected("a number after '-'", in);
    if (fault_) return node;
    node.text += token_.text;
    advance();
    return node;
  }

  [[nodiscard]] static bool infinity_or_nan(std::string_view word) {
    return word == "inf" || word == "infinity" || word == "nan";
  }

  PbtxtLexer lexer_;
  PbtxtToken token_;
  std::optional<Fault> fault_;
  std::size_t depth_ = 0;
  std::size_t nodes_ = 0;
};

}  // namespace

std::optional<Node> read_pbtxt(std::string_view text, const std::string& file, Diagnostics& out) {
  Parser parser(text);
  Node root = parser.document();
  if (parser.fault()) {
    out.error(file, parser.fault()->mark, "", str("not valid protobuf text: ", parser.fault()->message));
    return std::nullopt;
  }
  if (root.entries.empty()) {
    out.error(file, {}, "", "the document is empty");
    return std::nullopt;
  }
  return root;
}

}  // namespace sluice::spec
