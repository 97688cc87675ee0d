// How states become stages.
#include "spec/asl/asl.h"

#include "spec/asl/fixture.h"

namespace sluice::spec {
namespace {

constexpr const char* kEnd = R"({"Type": "Task", "Resource": "fn:f", "End": true})";
constexpr const char* kSucceed = R"({"Type": "Succeed"})";

TEST(Asl, TurnsAChainIntoStages) {
  EXPECT_EQ(stages(machine("Detect", R"(
      "Detect": {"Type": "Task", "Resource": "fn:detect", "Comment": "first", "Next": "Pause"},
      "Pause": {"Type": "Wait", "Seconds": 2, "Next": "Label"},
      "Label": {"Type": "Task", "Resource": "arn:aws:lambda:eu-west-1:123456789012:function:label", "Next": "Done"},
      "Done": {"Type": "Succeed"})")),
            "Detect: run detect\n"
            "Pause: pass; after Detect; wait 2s\n"
            "Label: run label; after Pause\n"
            "Done: pass; after Label");
}

TEST(Asl, ReadsTheExtensionsBesideTheStandardFields) {
  const Imported imported = import(R"({"Comment": "c", "Version": "1.0", "QueryLanguage": "JSONPath",
      "Application": "faces", "Tenant": "acme", "SLO": {"DeadlineMs": 412.5, "Percentile": 95, "CostDollars": 0.002, "Prefer": "cost"},
      "Functions": ["functions.yaml", "more.yaml"], "Outputs": {"label": "Label.label"},
      "StartAt": "Label", "States": {"Label": {"Type": "Task", "Resource": "fn:label", "End": true}}})");
  ASSERT_TRUE(imported.document) << imported.errors.front();
  const ApplicationDraft& draft = imported.document->draft;
  EXPECT_EQ(draft.file, "a.json");
  EXPECT_EQ(draft.application.name, "faces");
  EXPECT_EQ(draft.application.tenant, "acme");
  EXPECT_EQ(draft.application.objective.latency, Duration::us(412'500));
  EXPECT_EQ(draft.application.objective.percentile, 95);
  EXPECT_EQ(draft.application.objective.cost, 0.002);
  EXPECT_EQ(draft.application.objective.prefer, Prefer::cost);
  ASSERT_EQ(draft.outputs.size(), 1u);
  EXPECT_EQ(draft.outputs[0].first.text, "label");
  EXPECT_EQ(draft.outputs[0].second.text, "Label.label");
  EXPECT_EQ(draft.marks.at("slo.percentile"), (Mark{2, 92}));
  ASSERT_EQ(imported.document->function_files.size(), 2u);
  EXPECT_EQ(imported.document->function_files[1].text, "more.yaml");
  EXPECT_EQ(imported.document->function_files[1].mark, (Mark{3, 39}));
}

TEST(Asl, NamesTheApplicationAfterItsFileByDefault) {
  const Imported imported = import(machine("A", str(R"("A": )", kEnd)));
  ASSERT_TRUE(imported.document);
  EXPECT_EQ(imported.document->draft.application.name, "a");
  EXPECT_EQ(imported.document->draft.application.tenant, "default");
  EXPECT_EQ(imported.document->draft.application.objective.percentile, std::nullopt);
}

TEST(Asl, ImportsParallelChoiceMapRetryAndCatchTogether) {
  EXPECT_EQ(
      stages(machine("Detect", R"(
      "Detect": {"Type": "Task", "Resource": "fn:detect",
        "Retry": [{"ErrorEquals": ["States.Timeout", "Busy"], "IntervalSeconds": 3, "MaxAttempts": 5,
            "BackoffRate": 1.5,
                   "MaxDelaySeconds": 9, "JitterStrategy": "NONE"}],
        "Catch": [{"ErrorEquals": ["Broken", "Torn"], "Next": "GiveUp"},
                  {"ErrorEquals": ["States.ALL"], "ResultPath": "$.error", "Next": "GiveUp"}], "Next": "Any"},
      "Any": {"Type": "Choice", "Choices": [
        {"Variable": "$.count", "NumericGreaterThan": 0, "Next": "Both"},
        {"And": [{"Variable": "$.kind", "StringEquals": "x"}, {"Not": {"Variable": "$.y", "IsPresent": true}}],
            "Next": "Both"}],
        "Default": "GiveUp"},
      "Both": {"Type": "Parallel", "ResultPath": "$.both", "Next": "Each", "Branches": [
        {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "fn:a", "End": true}}},
        {"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "fn:b", "Next": "B2"},
                                    "B2": {"Type": "Task", "Resource": "fn:b", "End": true}}}]},
      "Each": {"Type": "Map", "ItemsPath": "$.items", "MaxConcurrency": 4, "End": true, "ItemProcessor": {
        "ProcessorConfig": {"Mode": "INLINE"}, "StartAt": "Crop", "States": {
          "Crop": {"Type": "Task", "Resource": "fn:crop", "Parameters": {"box.$": "$.box"}, "Next": "Name"},
          "Name": {"Type": "Task", "Resource": "fn:name", "End": true}}}},
      "GiveUp": {"Type": "Fail", "Error": "NoObject", "Cause": "nothing found"})")),
      "Detect: run detect; retry 5x 3s *1.5 to 9s States.Timeout Busy; catch Broken=GiveUp, Torn=GiveUp, all=GiveUp\n"
      "Any: pass; after Detect\n"
      "Both: pass; after Any; when any(Detect.count > 0, all(Detect.kind == 'x', not(Detect.y present true)))\n"
      "A: run a; after Both\n"
      "B: run b; after Both\n"
      "B2: run b; after B\n"
      "Each: pass; after A, B2; foreach Detect.items limit 4 {"
      "Crop: run crop; inputs box=request.box\n"
      "Name: run name; after Crop}\n"
      "GiveUp: fail NoObject/nothing found; after Any; when otherwise");
}

TEST(Asl, FillsRetryWithTheDefaultsOfTheLanguage) {
  EXPECT_EQ(
      stages(machine(
          "A",
          R"("A": {"Type": "Task", "Resource": "fn:f", "Retry": [{"ErrorEquals": ["States.ALL"]}], "End": true})")),
      "A: run f; retry 3x 1s *2");
  EXPECT_EQ(stages(machine("A", R"("A": {"Type": "Task", "Resource": "fn:f", "End": true,
                                         "Retry": [{"ErrorEquals": ["Busy"], "MaxAttempts": 0}]})")),
            "A: run f; retry 0x 1s *2 Busy");
}

TEST(Asl, KeepsTheFirstRuleThatHolds) {
  EXPECT_EQ(stages(machine("C", str(R"(
      "C": {"Type": "Choice", "Default": "D", "Choices": [
        {"Variable": "$.a", "NumericLessThan": 1, "Next": "X"},
        {"Variable": "$.b", "NumericLessThanEquals": 2, "Next": "Y"},
        {"Variable": "$.c", "NumericGreaterThanEquals": 3, "Next": "Z"}]},
      "X": )",
                                    kEnd, R"(, "Y": )", kEnd, R"(, "Z": )", kEnd, R"(, "D": )", kEnd))),
            "C: pass\n"
            "X: run f; after C; when request.a < 1\n"
            "Y: run f; after C; when all(request.b <= 2, not(request.a < 1))\n"
            "Z: run f; after C; when all(request.c >= 3, not(request.a < 1), not(request.b <= 2))\n"
            "D: run f; after C; when otherwise");
}

TEST(Asl, JoinsRulesThatLeadToTheSameStateAndNegatesOnlyTheOthers) {
  EXPECT_EQ(stages(machine("C", str(R"(
      "C": {"Type": "Choice", "Choices": [
        {"Variable": "$.a", "StringEquals": "1", "Next": "X"},
        {"Variable": "$.b", "StringMatches": "img-*", "Next": "X"},
        {"Variable": "$.c", "BooleanEquals": true, "Next": "Y"},
        {"Variable": "$.d", "IsPresent": false, "Next": "X"}]},
      "X": )",
                                    kEnd, R"(, "Y": )", kEnd))),
            "C: pass\n"
            "X: run f; after C; when any(any(request.a == '1', request.b matches 'img-*'), "
            "all(request.d present false, not(request.c == true)))\n"
            "Y: run f; after C; when all(request.c == true, not(request.a == '1'), not(request.b matches 'img-*'))");
}

TEST(Asl, TakesTheDefaultOfARuleTargetUnlessAnotherRuleWins) {
  EXPECT_EQ(stages(machine("C", str(R"(
      "C": {"Type": "Choice", "Default": "X", "Choices": [
        {"Variable": "$.a", "StringLessThan": "m", "Next": "X"}, {"Variable": "$.b", "StringGreaterThan": "m",
            "Next": "Y"}]},
      "X": )",
                                    kEnd, R"(, "Y": )", kEnd))),
            "C: pass\n"
            "X: run f; after C; when not(all(request.b > 'm', not(request.a < 'm')))\n"
            "Y: run f; after C; when all(request.b > 'm', not(request.a < 'm'))");
}

TEST(Asl, NeedsNoConditionWhereAllRulesAndDefaultAgree) {
  EXPECT_EQ(stages(machine("C", str(R"("C": {"Type": "Choice", "Default": "X",
                                    "Choices": [{"Variable": "$.a", "IsPresent": true, "Next": "X"}]}, "X": )",
                                    kEnd))),
            "C: pass\nX: run f; after C");
}

TEST(Asl, PutsAStageOnTheWayToAStateThatHasOtherWays) {
  EXPECT_EQ(stages(machine("C", str(R"(
      "C": {"Type": "Choice", "Default": "Slow", "Choices": [{"Variable": "$.easy", "BooleanEquals": true,
          "Next": "Join"}]},
      "Slow": {"Type": "Task", "Resource": "fn:slow", "Next": "Join"},
      "Join": )",
                                    kSucceed))),
            "C: pass\n"
            "Slow: run slow; after C; when otherwise\n"
            "Join: pass; after C to Join, Slow\n"
            "C to Join: pass; after C; when request.easy == true");
}

TEST(Asl, PutsAStageOnEachWayFromTwoChoices) {
  EXPECT_EQ(stages(machine("C", str(R"(
      "C": {"Type": "Choice", "Default": "D", "Choices": [{"Variable": "$.a", "NumericEquals": 1, "Next": "X"}]},
      "D": {"Type": "Choice", "Choices": [{"Variable": "$.a", "NumericEquals": 2, "Next": "X"}]},
      "X": )",
                                    kSucceed))),
            "C: pass\n"
            "D: pass; after C; when otherwise\n"
            "X: pass; after C to X, D to X\n"
            "C to X: pass; after C; when request.a == 1\n"
            "D to X: pass; after D; when request.a == 2");
}

TEST(Asl, JoinsTwoPlainWays) {
  EXPECT_EQ(stages(machine("C", str(R"(
      "C": {"Type": "Choice", "Default": "B", "Choices": [{"Variable": "$.a", "NumericEquals": 1, "Next": "A"}]},
      "A": {"Type": "Pass", "Next": "J"}, "B": {"Type": "Pass", "Next": "J"}, "J": )",
                                    kSucceed))),
            "C: pass\nA: pass; after C; when request.a == 1\nB: pass; after C; when otherwise\nJ: pass; after A, B");
}

TEST(Asl, EndsAParallelWithTheEndsOfTheParallelInsideIt) {
  EXPECT_EQ(stages(machine("P", str(R"(
      "P": {"Type": "Parallel", "Next": "J", "Branches": [
        {"StartAt": "Q", "States": {"Q": {"Type": "Parallel", "End": true, "Branches": [
          {"StartAt": "A", "States": {"A": )",
                                    kEnd, R"(}}, {"StartAt": "B", "States": {"B": )", kEnd, R"(}}]}}},
        {"StartAt": "C", "States": {
          "C": {"Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "D"}], "Default": "F"},
          "D": {"Type": "Succeed"}, "F": {"Type": "Fail"}}}]},
      "J": )",
                                    kEnd))),
            "P: pass\nQ: pass; after P\nA: run f; after Q\nB: run f; after Q\n"
            "C: pass; after P\nD: pass; after C; when request.x present true\nF: fail /; after C; when otherwise\n"
            "J: run f; after A, B, D");
}

TEST(Asl, HandsTheCatchersOfAParallelToWhatCanFailInside) {
  EXPECT_EQ(stages(machine("P", str(R"(
      "P": {"Type": "Parallel", "End": true, "Catch": [{"ErrorEquals": ["Busy"], "Next": "H"},
          {"ErrorEquals": ["States.ALL"], "Next": "G"}],
        "Branches": [
        {"StartAt": "A", "States": {"A": {"Type": "Task", "Resource": "fn:f", "Catch": [{"ErrorEquals": ["Busy"],
            "Next": "A2"}], "Next": "A2"},
                                    "A2": {"Type": "Pass", "End": true}}},
        {"StartAt": "M", "States": {"M": {"Type": "Map", "End": true, "Iterator": {"StartAt": "T", "States": {"T": )",
                                    kEnd, R"(}}}}},
        {"StartAt": "B", "States": {"B": {"Type": "Task", "Resource": "fn:f", "End": true,
                                          "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "B2"}]},
                                    "B2": {"Type": "Fail", "Error": "E"}}}]},
      "G": {"Type": "Fail"}, "H": )",
                                    kSucceed))),
            "P: pass\n"
            "A: run f; after P; catch Busy=A2, all=G\n"
            "A2: pass; after A\n"
            "M: pass; after P; catch Busy=H, all=G; foreach request limit 0 {T: run f}\n"
            "B: run f; after P; catch all=B2\n"
            "B2: fail E/; catch Busy=H, all=G\n"
            "G: fail /\n"
            "H: pass");
}

TEST(Asl, LetsTheInnerParallelCatchBeforeTheOuter) {
  EXPECT_EQ(stages(machine("P", str(R"(
      "P": {"Type": "Parallel", "End": true, "Catch": [{"ErrorEquals": ["Busy"], "Next": "F"},
          {"ErrorEquals": ["Torn"], "Next": "F"}],
        "Branches": [{"StartAt": "Q", "States": {
          "Q": {"Type": "Parallel", "Next": "B", "Catch": [{"ErrorEquals": ["Busy"], "Next": "B"}],
            "Branches": [{"StartAt": "A", "States": {"A": )",
                                    kEnd, R"(}}]},
          "B": )",
                                    kEnd, R"(}}]},
      "F": {"Type": "Fail"})"))),
            "P: pass\n"
            "Q: pass; after P\n"
            "A: run f; after Q; catch Busy=B, Torn=F\n"
            "B: run f; after A; catch Busy=F, Torn=F\n"
            "F: fail /");
}

TEST(Asl, RemembersWhereFieldsAreWritten) {
  const Imported imported = import(machine("A", R"(
"A": {"Type": "Task", "Resource": "fn:f",
 "Retry": [{"ErrorEquals": ["States.ALL"]}],
 "Catch": [{"ErrorEquals": ["E"], "Next": "H"}],
 "Parameters": {"x.$": "$.x"},
 "Next": "C"},
"C": {"Type": "Choice", "Choices": [
  {"Variable": "$.y", "IsPresent": true,
   "Next": "M"}]},
"M": {"Type": "Map",
 "ItemsPath": "$.items", "ItemProcessor": {"StartAt": "T", "States": {"T": {"Type": "Pass", "End": true}}},
     "End": true},
"H": {"Type": "Fail"})"));
  ASSERT_TRUE(imported.document) << imported.errors.front();
  const auto& all = imported.document->draft.workflow.stages;
  EXPECT_EQ(all[0].name.mark, (Mark{2, 1}));
  EXPECT_EQ(all[0].marks.at("function"), (Mark{2, 35}));
  EXPECT_EQ(all[0].function.mark, (Mark{2, 35}));
  EXPECT_EQ(all[0].marks.at("retry"), (Mark{3, 11}));
  EXPECT_EQ(all[0].marks.at("catch"), (Mark{4, 11}));
  EXPECT_EQ(all[0].catches[0].second.mark, (Mark{4, 43}));
  EXPECT_EQ(all[0].marks.at("inputs"), (Mark{5, 16}));
  EXPECT_EQ(all[0].inputs[0].second.mark, (Mark{5, 24}));
  EXPECT_EQ(all[1].marks.at("after"), (Mark{6, 10}));
  EXPECT_EQ(all[2].marks.at("when"), (Mark{9, 12}));
  EXPECT_EQ(all[2].when->left.mark, (Mark{8, 16}));
  EXPECT_EQ(all[2].marks.at("foreach"), (Mark{11, 15}));
}

}  // namespace
}  // namespace sluice::spec
