#include "spec/json_reader.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec {
namespace {

Node read(std::string_view text) {
  Diagnostics out;
  auto node = read_json(text, "a.json", out);
  for (const Diagnostic& d : out.sorted()) ADD_FAILURE() << to_string(d);
  return std::move(node).value_or(Node{});
}

// The error as a user sees it.
std::string fault(std::string_view text) {
  Diagnostics out;
  EXPECT_FALSE(read_json(text, "a.json", out)) << text;
  return out.sorted().empty() ? "" : to_string(out.sorted().front());
}

std::string repeat(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

TEST(JsonReader, ReadsEveryKindOfValue) {
  const Node root = read(
      R"( {"text": "a", "number": -1.5e+3, "yes": true, "no": false, "nothing": null, "list": [1, []], "map": {}} )");
  ASSERT_EQ(root.kind, Node::Kind::map);
  EXPECT_TRUE(root.find("text")->quoted);
  EXPECT_EQ(root.find("number")->text, "-1.5e+3");
  EXPECT_FALSE(root.find("number")->quoted);
  EXPECT_EQ(root.find("yes")->text, "true");
  EXPECT_EQ(root.find("no")->kind, Node::Kind::scalar);
  EXPECT_EQ(root.find("nothing")->kind, Node::Kind::null);
  ASSERT_EQ(root.find("list")->items.size(), 2u);
  EXPECT_EQ(root.find("list")->items[1].kind, Node::Kind::sequence);
  EXPECT_EQ(root.find("map")->kind, Node::Kind::map);
}

TEST(JsonReader, MarksEveryKeyAndValueInCharacters) {
  const Node root = read("{\n  \"ä\": [1,\n   2], \"b\":{}}");
  EXPECT_EQ(root.mark, (Mark{1, 1}));
  EXPECT_EQ(root.entries[0].mark, (Mark{2, 3}));
  EXPECT_EQ(root.entries[0].value.mark, (Mark{2, 8}));
  EXPECT_EQ(root.entries[0].value.items[1].mark, (Mark{3, 4}));
  EXPECT_EQ(root.entries[1].mark, (Mark{3, 8}));
  EXPECT_EQ(root.entries[1].value.mark, (Mark{3, 12}));
}

TEST(JsonReader, DecodesEscapes) {
  EXPECT_EQ(read(R"("\"\\\/\b\f\n\r\t")").text, "\"\\/\b\f\n\r\t");
  EXPECT_EQ(read(R"("\u0041\u00e9\u6F22\ud83D\uDe00")").text, "Aé漢😀");
  EXPECT_EQ(read("\"漢 😀 \x7f\"").text, "漢 😀 \x7f");
}

TEST(JsonReader, KeepsDuplicateKeys) {
  EXPECT_EQ(read(R"({"a": 1, "a": 2})").entries.size(), 2u);
}

TEST(JsonReader, AcceptsExactlyTheNumbersOfTheGrammar) {
  for (const char* text : {"0", "-0", "10", "0.5", "1e9", "1E-9", "-12.25e+2", "123456789012345678901234567890"}) {
    EXPECT_EQ(read(text).text, text);
  }
  for (const char* text : {"01", "-", "+1", ".5", "1.", "1e", "1e+", "-01", "0x10", "Infinity", "NaN", "1 2"}) {
    EXPECT_NE(fault(text), "") << text;
  }
}

TEST(JsonReader, SaysWhereTheDocumentIsBroken) {
  EXPECT_EQ(fault(""), "a.json:1:1: error: not valid JSON: the document is empty");
  EXPECT_EQ(fault(" \n "), "a.json:2:2: error: not valid JSON: the document is empty");
  EXPECT_EQ(fault("{\"a\": 1,\n}"), "a.json:2:1: error: not valid JSON: a comma before '}' is not allowed");
  EXPECT_EQ(fault("[1,]"), "a.json:1:4: error: not valid JSON: a comma before ']' is not allowed");
  EXPECT_EQ(fault("{\"a\" 1}"), "a.json:1:6: error: not valid JSON: expected ':' after the name 'a', got '1'");
  EXPECT_EQ(fault("{a: 1}"), "a.json:1:2: error: not valid JSON: expected a name in double quotes, got 'a'");
  EXPECT_EQ(fault("[1 2]"), "a.json:1:4: error: not valid JSON: expected ',' or ']', got '2'");
  EXPECT_EQ(fault("[1] x"), "a.json:1:5: error: not valid JSON: expected the end of the document, got 'x'");
  EXPECT_EQ(fault("[é]"), "a.json:1:2: error: not valid JSON: expected a value, got 'é'");
  EXPECT_EQ(fault("// hello\n{}"),
            "a.json:1:1: error: not valid JSON: expected a value, got a comment, which JSON does not have");
  EXPECT_EQ(fault("\xEF\xBB\xBF{}"),
            "a.json:1:1: error: not valid JSON: starts with a byte order mark; save it as UTF-8 without one");
}

TEST(JsonReader, SaysWhatATruncatedDocumentLeftOpen) {
  EXPECT_EQ(fault("\n{\"a\": [1"),
            "a.json:2:9: error: not valid JSON: expected ',' or ']', got the end of the document; the '[' of line 2 is "
            "not closed");
  EXPECT_EQ(fault("{\"ab"),
            "a.json:1:5: error: not valid JSON: the document ends inside the text that starts in line 1, column 2");
  const std::string_view whole = R"({"a": [1, -2.5e3, true, null, {"b": "\n\u00e9"}], "c": false})";
  for (std::size_t length = 0; length < whole.size(); ++length) EXPECT_NE(fault(whole.substr(0, length)), "") << length;
}

TEST(JsonReader, RefusesBrokenTexts) {
  for (const char* text :
       {R"("\x")", R"("\u12")", R"("\u12g4")", "\"a\nb\"", "\"\t\"", R"("\u0000")", R"("\)", R"("\u)"})
    EXPECT_NE(fault(text), "") << text;
  for (const char* text :
       {R"("\ud800")", R"("\udc00")", R"("\ud800\u0041")", R"("\ud800\ud800")", R"("\udc00\ud800")", R"("\ud800x")"}) {
    EXPECT_NE(fault(text).find("half of a surrogate pair"), std::string::npos) << text;
  }
}

TEST(JsonReader, LimitsDepth) {
  const std::size_t most = limits::document_depth_max;
  (void)read(repeat("[", most) + repeat("]", most));
  EXPECT_NE(fault(repeat("[", most + 1) + repeat("]", most + 1)).find("nested deeper than 64 levels"),
            std::string::npos);
  EXPECT_NE(fault(repeat("{\"a\":", 1'000'000)).find("nested deeper than 64 levels"), std::string::npos);
}

TEST(JsonReader, LimitsTheNumberOfValues) {
  const std::string most = repeat("0,", limits::document_nodes_max - 2) + "0";  // and the list itself
  EXPECT_EQ(read("[" + most + "]").items.size(), limits::document_nodes_max - 1);
  EXPECT_NE(fault("[" + most + ",0]").find("more than 2000000 values"), std::string::npos);
}

TEST(JsonReader, SurvivesBytesThatAreNoText) {
  for (int first = 0; first < 256; ++first) {
    for (const char* rest : {"", "\xff", "\"", "{}", "\x80\x80\x80"}) {
      const std::string text = std::string(1, static_cast<char>(first)) + rest;
      Diagnostics out;
      const bool read = read_json(text, "a.json", out).has_value();
      EXPECT_NE(read, out.has_errors());
    }
  }
}

}  // namespace
}  // namespace sluice::spec
