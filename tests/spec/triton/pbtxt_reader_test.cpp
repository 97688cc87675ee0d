#include "spec/triton/pbtxt_reader.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec {
namespace {

// A tree as compact text: messages in braces, lists in brackets, strings in quotes.
std::string shown(const Node& node) {
  std::string out;
  switch (node.kind) {
    case Node::Kind::null:
      return "null";
    case Node::Kind::scalar:
      return node.quoted ? str('"', node.text, '"') : node.text;
    case Node::Kind::sequence:
      for (const Node& item : node.items) out += str(out.empty() ? "" : " ", shown(item));
      return str("[", out, "]");
    case Node::Kind::map:
      for (const Entry& entry : node.entries) out += str(out.empty() ? "" : " ", entry.key, ":", shown(entry.value));
      return str("{", out, "}");
  }
  return out;
}

std::string read(std::string_view text) {
  Diagnostics out;
  const auto node = read_pbtxt(text, "config.pbtxt", out);
  EXPECT_EQ(node.has_value(), !out.has_errors());
  return node ? shown(*node) : to_string(out.sorted().front());
}

TEST(PbtxtReader, ReadsFieldsMessagesAndLists) {
  EXPECT_EQ(read("name: \"a\" size: 3 kind: KIND_GPU on: true"), "{name:\"a\" size:3 kind:KIND_GPU on:true}");
  EXPECT_EQ(read("a { b: 1 } c: { d: 2 } e < f: 3 > g: < h: 4 >"), "{a:{b:1} c:{d:2} e:{f:3} g:{h:4}}");
  EXPECT_EQ(read("a: [1, 2] b [ { x: 1 }, < x: 2 > ] c: [] d { }"), "{a:[1 2] b:[{x:1} {x:2}] c:[] d:{}}");
}

TEST(PbtxtReader, CollectsRepeatedFieldsInOneList) {
  EXPECT_EQ(read("a: 1 b: 2 a: 3"), "{a:[1 3] b:2}");
  EXPECT_EQ(read("a: [1, 2] a: 3 a: [4] a: []"), "{a:[1 2 3 4]}");
  EXPECT_EQ(read("a { x: 1 x: 2 } a { x: 3 }"), "{a:[{x:[1 2]} {x:3}]}");
}

TEST(PbtxtReader, TakesSeparatorsAndComments) {
  EXPECT_EQ(read("# head\na: 1, b: 2; c { x: 1; y: 2, }, d: 4 # tail"), "{a:1 b:2 c:{x:1 y:2} d:4}");
  EXPECT_EQ(read("a: [ 1 # one\n , 2 ]\r\nb:\t-  # sign\n 5"), "{a:[1 2] b:-5}");
}

TEST(PbtxtReader, ReadsNumbersAsProtobufWritesThem) {
  EXPECT_EQ(read("a: [0, -1, 017, 0x1F, -0X10, 1.5, .5, 2., 1e6, 1.5E-3, 10f, 2.5F]"),
            "{a:[0 -1 15 31 -16 1.5 .5 2. 1e6 1.5E-3 10 2.5]}");
  EXPECT_EQ(read("a: [inf, -inf, -nan]"), "{a:[inf -inf -nan]}");
  for (const std::string_view bad :
       {"12abc", "08", "0x", "0xG", "1.2.3", "1e", "99999999999999999999x", "0x1ffffffffffffffff"}) {
    EXPECT_EQ(read(str("a: ", bad)),
              str("config.pbtxt:1:4: error: not valid protobuf text: '", bad, "' is not a number, or it is too large"));
  }
}

TEST(PbtxtReader, UnescapesAndJoinsStrings) {
  EXPECT_EQ(read(R"(a: "x" 'y'
    # between
    "z")"),
            "{a:\"xyz\"}");
  EXPECT_EQ(read(R"(a: "it's" b: 'say "hi"' c: "\"\'\\")"), R"({a:"it's" b:"say "hi"" c:""'\"})");
  EXPECT_EQ(read(R"(a: "\n\t\101\x42\u00e9\U0001F600 é")"), "{a:\"\n\tAB\xC3\xA9\xF0\x9F\x98\x80 é\"}");
  EXPECT_EQ(read(R"(a: "# no comment")"), "{a:\"# no comment\"}");
}

TEST(PbtxtReader, RefusesStringsThatAreNoText) {
  const std::string prefix = "config.pbtxt:1:";
  const std::string unknown =
      ": error: not valid protobuf text: unknown escape in a string; write \\\\ for a backslash";
  EXPECT_EQ(read(R"(a: "x\q")"), prefix + "6" + unknown);
  EXPECT_EQ(read(R"(a: "\u12")"), prefix + "5" + unknown);
  EXPECT_EQ(read(R"(a: "\U00110000")"), prefix + "5" + unknown);
  EXPECT_EQ(read(R"(a: "\777")"), prefix + "5" + unknown);
  EXPECT_EQ(read(R"(a: "\xg")"), prefix + "5" + unknown);
  EXPECT_EQ(read("a: \"\\"), prefix + "5" + unknown);
  const std::string broken = ": error: not valid protobuf text: the string is not valid UTF-8, or it holds a zero byte";
  EXPECT_EQ(read(R"(a: "\xff")"), prefix + "4" + broken);
  EXPECT_EQ(read(R"(a: "\0")"), prefix + "4" + broken);
  EXPECT_EQ(read(R"(a: "\ud83d")"), prefix + "4" + broken);
  EXPECT_EQ(read("a: \"x\nb: 1"),
            prefix + "4: error: not valid protobuf text: the string that begins here has no closing \" in its line");
}

TEST(PbtxtReader, GivesEveryValueItsPosition) {
  Diagnostics out;
  const auto root = read_pbtxt("\xEF\xBB\xBF# é\na: \"é\" b: 1\n  c {\n    d: [\n      -7 ]\n  }\na: 2", "f", out);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->mark, (Mark{1, 1}));
  const Node& a = *root->find("a");
  EXPECT_EQ(a.mark, (Mark{2, 4}));
  EXPECT_EQ(a.items[0].mark, (Mark{2, 4}));
  EXPECT_EQ(a.items[1].mark, (Mark{7, 4}));
  EXPECT_EQ(root->entries[1].mark, (Mark{2, 8}));  // a character counts once, whatever its bytes
  const Node& c = *root->find("c");
  EXPECT_EQ(c.mark, (Mark{3, 5}));
  EXPECT_EQ(c.find("d")->mark, (Mark{4, 8}));
  EXPECT_EQ(c.find("d")->items[0].mark, (Mark{5, 7}));
}

struct Broken {
  std::string_view text, message;
};

TEST(PbtxtReader, SaysWhereAndWhatIsBroken) {
  const Broken cases[] = {
      {"a", "1:2: error: not valid protobuf text: expected ':' or '{' after 'a', got the end of the file"},
      {"a \"x\"", "1:3: error: not valid protobuf text: expected ':' or '{' after 'a', got a string"},
      {"a 5", "1:3: error: not valid protobuf text: expected ':' or '{' after 'a', got '5'"},
      {"a:", "1:3: error: not valid protobuf text: expected a value, got the end of the file"},
      {"a: -", "1:5: error: not valid protobuf text: expected a value, got the end of the file"},
      {"a: -b", "1:5: error: not valid protobuf text: expected a number after '-', got 'b'"},
      {"a: }", "1:4: error: not valid protobuf text: expected a value, got '}'"},
      {"}", "1:1: error: not valid protobuf text: expected a field name, got '}'"},
      {"a: 1,, b: 2", "1:6: error: not valid protobuf text: expected a field name, got ','"},
      {"a {\n b: 1",
       "2:6: error: not valid protobuf text: expected a field name or '}', got the end of the file; the '{' in line 1, "
       "column 3 is still open"},
      {"a { b: 1 >",
       "1:10: error: not valid protobuf text: expected a field name or '}', got '>'; the '{' in line 1, column 3 is "
       "still open"},
      {"a < b: 1 }",
       "1:10: error: not valid protobuf text: expected a field name or '>', got '}'; the '<' in line 1, column 3 is "
       "still open"},
      {"a: [1, 2",
       "1:9: error: not valid protobuf text: expected ',' or ']', got the end of the file; the '[' in line 1, column 4 "
       "is still open"},
      {"a [ {} {} ]", "1:8: error: not valid protobuf text: expected ',' or ']', got '{'"},
      {"a: [1, ]", "1:8: error: not valid protobuf text: a comma before ']'; the last value of a list has none"},
      {"a: [[1]]", "1:5: error: not valid protobuf text: a list inside a list"},
      {"[type.example/X] { }",
       "1:1: error: not valid protobuf text: extensions and Any messages in [brackets] are not supported"},
      {"a: 1\n@", "2:1: error: not valid protobuf text: unexpected character '@'"},
      {"a: é", "1:4: error: not valid protobuf text: unexpected character 'é'"},
      {"a: \x80", "1:4: error: not valid protobuf text: unexpected character '\\x80'"},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(read(text), str("config.pbtxt:", message)) << text;
  EXPECT_EQ(read(std::string_view("a\0b", 3)),
            "config.pbtxt:1:2: error: not valid protobuf text: unexpected character '\\x00'");
  for (const std::string_view empty : {"", " \n", "# only a comment"}) {
    EXPECT_EQ(read(empty), "config.pbtxt: error: the document is empty");
  }
}

std::string times(std::size_t count, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

TEST(PbtxtReader, LimitsDepth) {
  const std::size_t deepest = limits::document_depth_max;
  EXPECT_EQ(read(times(deepest, "a{") + times(deepest, "}")).size(), 2 + 4 * deepest);
  EXPECT_EQ(read(times(deepest + 1, "a{") + times(deepest + 1, "}")),
            "config.pbtxt:1:130: error: not valid protobuf text: nested deeper than 64 levels");
  EXPECT_EQ(read(times(1'000'000, "a{")),
            "config.pbtxt:1:130: error: not valid protobuf text: nested deeper than 64 levels");
}

TEST(PbtxtReader, LimitsTheNumberOfValues) {
  const std::string text = "a:[" + times(limits::document_nodes_max, "1,") + "1]";
  EXPECT_EQ(read(text), "config.pbtxt:1:4000002: error: not valid protobuf text: more than 2000000 values");
}

TEST(PbtxtReader, SurvivesEveryTruncation) {
  const std::string text = R"(name: "a\u00e9\x41" platform: 'x' "y" dims: [ -1, 0x10, 1.5e-3f ]
    input [ { name: "i" }, < k: V > ] step { m { key: "a"; value: "b" } } # end)";
  for (std::size_t length = 0; length <= text.size(); ++length) {
    const std::string cut = text.substr(0, length);  // a copy of its own, so that reading past it is noticed
    Diagnostics out;
    const bool good = read_pbtxt(cut, "f", out).has_value();
    EXPECT_EQ(good, !out.has_errors()) << cut;
  }
}

}  // namespace
}  // namespace sluice::spec
