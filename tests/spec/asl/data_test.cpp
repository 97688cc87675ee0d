// How paths become references.
#include "spec/asl/fixture.h"

namespace sluice::spec {
namespace {

constexpr const char* kUse = R"("Use": {"Type": "Task", "Resource": "fn:use", "End": true, "Parameters": )";

// The inputs of a last task `Use` with these Parameters behind `states`; or the first error.
std::string inputs(const std::string& states, const std::string& parameters) {
  const Imported imported = import(machine("S", str(states, kUse, parameters, "}")));
  if (!imported.document) return imported.errors.front();
  for (const StageDraft& stage : imported.document->draft.workflow.stages) {
    if (stage.name.text != "Use") continue;
    std::string out;
    for (const auto& [input, from] : stage.inputs) out += str(out.empty() ? "" : " ", input.text, "=", from.text);
    return out;
  }
  return "no stage";
}

std::string task(const std::string& name, const std::string& more) {
  return str("\"", name, R"(": {"Type": "Task", "Resource": "fn:f", )", more, "}, ");
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(AslData, ReadsTheRequestAtTheStart) {
  EXPECT_EQ(stages(machine("Use", str(kUse, R"({"x.$": "$.image", "all.$": "$"}})"))),
            "Use: run use; inputs x=request.image, all=request");
}

TEST(AslData, ReadsTheLastResultByDefault) {
  EXPECT_EQ(inputs(task("S", R"("Next": "W")") + R"("W": {"Type": "Wait", "Seconds": 1, "Next": "Use"}, )",
                   R"({"x.$": "$.boxes", "y.$": "$"})"),
            "x=S.boxes y=S");
}

TEST(AslData, KeepsResultsApartByResultPath) {
  const std::string states = task("S", R"("Next": "T")") +
                             task("T", R"("Parameters": {"a.$": "$.a"}, "ResultPath": "$.t", "Next": "U")") +
                             task("U", R"("Parameters": {"b.$": "$.t.b"}, "ResultPath": null, "Next": "V")") +
                             task("V", R"("Parameters": {}, "ResultPath": "$.v", "Next": "Use")");
  EXPECT_EQ(inputs(states, R"({"root.$": "$.a", "t.$": "$.t", "tb.$": "$.t.b", "vc.$": "$.v.c"})"),
            "root=S.a t=T tb=T.b vc=V.c");
  EXPECT_TRUE(says(inputs(states, R"({"x.$": "$"})"), "the whole document is put together from several states"));
}

TEST(AslData, LetsALaterResultTakeTheKeyOver) {
  EXPECT_EQ(inputs(task("S", R"("ResultPath": "$.t", "Next": "T")") +
                       task("T", R"("Parameters": {"a.$": "$.t.a"}, "ResultPath": "$.t", "Next": "Use")"),
                   R"({"x.$": "$.t.a"})"),
            "x=T.a");
}

TEST(AslData, TakesParametersOfAPassAsItsOutputs) {
  EXPECT_EQ(stages(machine("S", task("S", R"("Next": "P")") + str(R"(
      "P": {"Type": "Pass", "Parameters": {"picture.$": "$.image"}, "Next": "Use"}, )",
                                                                  kUse, R"({"x.$": "$.picture"}})"))),
            "S: run f\nP: pass; after S; inputs picture=S.image\nUse: run use; after P; inputs x=P.picture");
}

TEST(AslData, FindsTheBranchOfAParallelByItsPosition) {
  const std::string states = task("S", R"("Next": "P")") + R"(
      "P": {"Type": "Parallel", "ResultPath": "$.both", "Next": "Use", "Branches": [
        {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "fn:a", "End": true}}},
        {"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "fn:b", "ResultPath": "$.b", "End": true}}},
        {"StartAt": "F", "States": {"F": {"Type": "Fail"}}}]}, )";
  EXPECT_EQ(
      inputs(states, R"({"a.$": "$.both[0].x", "b.$": "$.both[1].b.y", "c.$": "$.both[1].image", "d.$": "$.image"})"),
      "a=A.x b=B.y c=S.image d=S.image");
  EXPECT_TRUE(
      says(inputs(states, R"({"x.$": "$.both"})"), "the result of the Parallel 'P' is a list; take one branch"));
  EXPECT_TRUE(says(inputs(states, R"({"x.$": "$.both[3]"})"), "'P' has 3 branches, counted from 0"));
  EXPECT_TRUE(says(inputs(states, R"({"x.$": "$.both[2].y"})"), "branch 2 of 'P' has no result, it only fails"));
}

TEST(AslData, GivesTheParametersOfAParallelToItsBranches) {
  EXPECT_EQ(
      stages(machine("P", R"("P": {"Type": "Parallel", "End": true, "Parameters": {"i.$": "$.image"}, "Branches": [
      {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "fn:a", "Parameters": {"x.$": "$.i"},
          "End": true}}}]})")),
      "P: pass; inputs i=request.image\nA: run a; after P; inputs x=P.i");
}

TEST(AslData, StacksTheOutputsOfAMap) {
  EXPECT_EQ(
      inputs(R"("S": {"Type": "Map", "ItemsPath": "$.boxes", "Next": "Use", "ItemProcessor": {"StartAt": "T", "States":
                      {"T": {"Type": "Task", "Resource": "fn:f", "Parameters": {"x.$": "$"}, "End": true}}}}, )",
             R"({"a.$": "$.label", "b.$": "$[*].label", "c.$": "$"})"),
      "a=S.label b=S.label c=S");
}

TEST(AslData, RefusesWhatDiffersBetweenTheWays) {
  const std::string states = R"(
      "S": {"Type": "Choice", "Default": "B", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "A"}]}, )" +
                             task("A", R"("ResultPath": "$.a", "Next": "Use")") +
                             task("B", R"("ResultPath": "$.b", "Next": "Use")");
  EXPECT_EQ(inputs(states, R"({"x.$": "$.image"})"), "x=request.image");
  EXPECT_TRUE(says(inputs(states, R"({"x.$": "$.a.y"})"),
                   "'$.a.y': is not the same on all ways: after 'A' and after 'B' the document differs"));
}

TEST(AslData, RefusesAKeyThatTwoWaysSetDifferently) {
  const std::string states = R"(
      "S": {"Type": "Choice", "Default": "B", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "A"}]}, )" +
                             task("A", R"("ResultPath": "$.r", "Next": "Use")") +
                             task("B", R"("ResultPath": "$.r", "Next": "Use")");
  EXPECT_TRUE(says(inputs(states, R"({"x.$": "$.r.y"})"), "'$.r.y': is not the same on all ways"));
}

TEST(AslData, LetsATaskWithoutParametersJoinTwoWays) {
  EXPECT_EQ(stages(machine("S", R"(
      "S": {"Type": "Choice", "Default": "B", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "A"}]}, )" +
                                    task("A", R"("Next": "J")") + task("B", R"("Next": "J")") +
                                    R"("J": {"Type": "Task", "Resource": "fn:j", "End": true})")),
            "S: pass\nA: run f; after S; when request.n == 1\nB: run f; after S; when otherwise\nJ: run j; after A, B");
}

TEST(AslData, GivesUpADocumentWithTooManyDifferences) {
  std::string states, choices;
  for (int i = 0; i <= 64; ++i) {
    states += task(str("T", i), str(R"("ResultPath": "$.k)", i, R"(", "Next": "Use")"));
    choices += str(i == 0 ? "" : ",", R"({"Variable": "$.n", "NumericEquals": )", i, R"(, "Next": "T)", i, "\"}");
  }
  states = str(R"("S": {"Type": "Choice", "Choices": [)", choices, "]}, ", states);
  for (const char* path : {"$.image", "$.k0", "$.k64"}) {
    EXPECT_TRUE(says(inputs(states, str(R"({"x.$": ")", path, "\"}")), "is not the same on all ways")) << path;
  }
}

TEST(AslData, RefusesTheWholeDocumentThatDiffersBetweenTheWays) {
  const std::string states = R"(
      "S": {"Type": "Choice", "Default": "B", "Choices": [{"Variable": "$.n", "NumericEquals": 1, "Next": "A"}]}, )" +
                             task("A", R"("Next": "W")") + task("B", R"("Next": "W")") +
                             R"("W": {"Type": "Pass", "Next": "Use"}, )";
  EXPECT_TRUE(says(inputs(states, R"({"x.$": "$.y"})"), "after 'A' and after 'B'"));
}

TEST(AslData, GivesHandlersTheDocumentButNotTheError) {
  const auto caught = [](const std::string& result_path, const std::string& parameters) {
    return inputs(
        task("S", str(R"("Catch": [{"ErrorEquals": ["States.ALL"])", result_path, R"(, "Next": "Use"}], "End": true)")),
        parameters);
  };
  EXPECT_EQ(caught(R"(, "ResultPath": "$.error")", R"({"x.$": "$.image"})"), "x=request.image");
  EXPECT_EQ(caught(R"(, "ResultPath": null)", R"({"x.$": "$.error"})"), "x=request.error");
  EXPECT_TRUE(says(caught(R"(, "ResultPath": "$.error")", R"({"x.$": "$.error.Cause"})"),
                   "what the Catch of 'S' received cannot be read"));
  EXPECT_TRUE(says(caught("", R"({"x.$": "$.image"})"), "what the Catch of 'S' received cannot be read"));
}

TEST(AslData, RefusesATaskThatWouldSilentlyGetOtherInputs) {
  const std::string end = R"("T": {"Type": "Task", "Resource": "fn:t", "End": true})";
  EXPECT_EQ(stages(machine("S", task("S", R"("ResultPath": "$.s", "Next": "T")") + end)),
            "1:134 States.T: its input is the document of the request with what ResultPath added, but by name it would "
            "get the outputs of "
            "'S'; name its inputs: \"Parameters\": {\"NAME.$\": \"$.FIELD\"}\n");
  EXPECT_TRUE(says(stages(machine("S", task("S", R"("ResultPath": null, "Next": "T")") + end)),
                   "its input is the document of the request, but"));
  EXPECT_EQ(stages(machine("S", task("S", R"("ResultPath": "$", "Next": "T")") + end)), "S: run f\nT: run t; after S");
}

TEST(AslData, RefusesPathsBeyondPlainReferences) {
  for (const char* path : {"$.a.b",
                           "$.a[0]",
                           "$[0]",
                           "$[*].a",
                           "$..a",
                           "$.a[?(@.b>1)]",
                           "$['a']",
                           "$.",
                           "$.a.",
                           "a",
                           "$$.Execution.Id",
                           "States.Format('{}', $.a)",
                           "$.a b",
                           "$.-a",
                           "$.\xc3\xa9",
                           "$[-1]",
                           "$[99999]",
                           "$[0",
                           "$[",
                           "$.a$"}) {
    const std::string got = inputs(task("S", R"("Next": "Use")"), str(R"({"x.$": ")", path, "\"}"));
    EXPECT_TRUE(says(got, "paths beyond plain references are not supported")) << path << ": " << got;
    EXPECT_TRUE(says(got, "States.Use.Parameters.x")) << got;
  }
}

TEST(AslData, SaysWhichKindOfPathIsMissing) {
  EXPECT_TRUE(says(inputs(task("S", R"("Next": "Use")"), R"({"x.$": "$$.Execution.Id"})"), "reads the context object"));
  EXPECT_TRUE(
      says(inputs(task("S", R"("Next": "Use")"), R"x({"x.$": "States.UUID()"})x"), "calls an intrinsic function"));
}

TEST(AslData, RefusesAnEmptyPath) {
  EXPECT_TRUE(says(inputs(task("S", R"("Next": "Use")"), R"({"x.$": ""})"), "is empty; write a path"));
}

TEST(AslData, LimitsTheResultsBesideEachOther) {
  const auto chain = [](int count) {
    std::string states;
    for (int i = 0; i < count; ++i) {
      states += task(i == 0 ? "S" : str("S", i), str(R"("Parameters": {}, "ResultPath": "$.r)", i, R"(", "Next": ")",
                                                     i + 1 == count ? "Use" : str("S", i + 1), "\""));
    }
    return states;
  };
  EXPECT_EQ(inputs(chain(64), R"({"x.$": "$.r63"})"), "x=S63");
  EXPECT_TRUE(says(inputs(chain(65), R"({"x.$": "$.r63"})"),
                   "States.S64.ResultPath: the document would have more than 64 results"));
}

}  // namespace
}  // namespace sluice::spec
