// What the import refuses: each feature by its name, broken rules of the language, and hostile documents.
#include <algorithm>
#include <array>
#include <span>

#include "domain/limits.h"
#include "spec/asl/fixture.h"

namespace sluice::spec {
namespace {

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// All errors of a document, a line each.
std::string errors(const std::string& text) {
  const Imported imported = import(text);
  std::string out;
  for (const std::string& error : imported.errors) out += error + "\n";
  return out;
}

// The errors of one state `A` with these fields beside a Succeed `B`.
std::string errors_of(const std::string& fields) {
  return errors(machine("A", str(R"("A": {)", fields, R"(}, "B": {"Type": "Succeed"})")));
}

struct Case {
  const char *fields, *expected;
};

void expect_one_error_each(std::span<const Case> cases) {
  for (const Case& c : cases) {
    const std::string got = errors_of(c.fields);
    EXPECT_TRUE(says(got, c.expected)) << c.fields << "\n" << got;
    EXPECT_EQ(std::count(got.begin(), got.end(), '\n'), 1) << got;
  }
}

TEST(AslRefused, RefusesFieldsByName) {
  const auto refuses = [](const std::string& type, const std::string& field, const std::string& value) {
    const std::string got = errors_of(str(type, ", \"", field, "\": ", value));
    EXPECT_TRUE(says(got, str("States.A.", field, ": '", field, "' is not supported; "))) << type << field << "\n"
                                                                                          << got;
    EXPECT_EQ(std::count(got.begin(), got.end(), '\n'), 1) << got;
  };
  const std::string task = R"("Type": "Task", "Resource": "fn:f", "Next": "B")";
  for (const char* field : {"TimeoutSeconds", "TimeoutSecondsPath", "HeartbeatSeconds", "HeartbeatSecondsPath",
                            "ResultSelector", "Credentials", "Assign", "Arguments", "Output", "QueryLanguage"}) {
    refuses(task, field, "1");
  }
  refuses(R"("Type": "Pass", "Next": "B")", "Result", "{}");
  for (const char* field : {"SecondsPath", "Timestamp", "TimestampPath"})
    refuses(R"("Type": "Wait", "Next": "B")", field, "\"$.t\"");
  const std::string body = R"({"StartAt": "C", "States": {"C": {"Type": "Pass", "End": true}}})";
  for (const char* field : {"Retry", "ResultSelector"})
    refuses(str(R"("Type": "Parallel", "Next": "B", "Branches": [)", body, "]"), field, "[]");
  for (const char* field :
       {"Retry", "ResultSelector", "ItemSelector", "Parameters", "ItemReader", "ItemBatcher", "ResultWriter", "Label",
        "MaxConcurrencyPath", "ToleratedFailureCount", "ToleratedFailureCountPath", "ToleratedFailurePercentage",
        "ToleratedFailurePercentagePath"}) {
    refuses(str(R"("Type": "Map", "Next": "B", "ItemProcessor": )", body), field, "[]");
  }
}

TEST(AslRefused, RefusesComparisonsByName) {
  for (const char* type : {"String", "Numeric", "Timestamp"}) {
    for (const char* compare : {"Equals", "LessThan", "LessThanEquals", "GreaterThan", "GreaterThanEquals"}) {
      const std::string path = str(type, compare, "Path");
      EXPECT_TRUE(says(
          errors_of(str(R"("Type": "Choice", "Choices": [{"Variable": "$.x", ")", path, R"(": "$.y", "Next": "B"}])")),
          str("States.A.Choices[0].", path, ": '", path, "' is not supported")))
          << path;
    }
  }
  for (const char* name : {"TimestampEquals", "TimestampLessThan", "TimestampLessThanEquals", "TimestampGreaterThan",
                           "TimestampGreaterThanEquals", "BooleanEqualsPath", "IsNull", "IsNumeric", "IsString",
                           "IsBoolean", "IsTimestamp", "Condition"}) {
    const std::string got =
        errors_of(str(R"("Type": "Choice", "Choices": [{"Variable": "$.x", ")", name, R"(": true, "Next": "B"}])"));
    EXPECT_TRUE(says(got, str("'", name, "' is not supported"))) << got;
    EXPECT_EQ(std::count(got.begin(), got.end(), '\n'), 1) << got;
  }
}

TEST(AslRefused, RefusesValuesThatSluiceDoesNotHave) {
  const std::array cases = {
      Case{R"("Type": "Task", "Resource": "fn:f", "InputPath": "$.x", "Next": "B")",
           "States.A.InputPath: 'InputPath' other than \"$\" is not supported"},
      Case{R"("Type": "Task", "Resource": "fn:f", "OutputPath": null, "Next": "B")",
           "States.A.OutputPath: 'OutputPath' other than \"$\" is not supported"},
      Case{R"("Type": "Task", "Resource": "fn:f", "ResultPath": "$.x.y", "Next": "B")",
           "States.A.ResultPath: '$.x.y' is not supported"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Parameters": {"x": 1}, "Next": "B")",
           "States.A.Parameters.x: constants in Parameters are not supported"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Parameters": {"x": {"y.$": "$.y"}}, "Next": "B")",
           "constants in Parameters are not supported"},
      Case{R"("Type": "Pass", "ResultPath": "$.x", "Next": "B")",
           "'ResultPath' of a Pass without Parameters is not supported"},
      Case{R"("Type": "Task", "Resource": "arn:aws:states:::sns:publish", "Next": "B")",
           "States.A.Resource: 'arn:aws:states:::sns:publish' is not supported; a Resource is a function: write "
           "\"fn:NAME\""},
      Case{R"("Type": "Task", "Resource": "https://example.com/", "Next": "B")", "write \"fn:NAME\""},
      Case{R"("Type": "Task", "Resource": "fn:", "Next": "B")", "write \"fn:NAME\""},
      Case{R"("Type": "Task", "Resource": "arn:aws:lambda:x:1:function:f:PROD", "Next": "B")",
           "versions and aliases are not supported"},
      Case{
          R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["X"]},
              {"ErrorEquals": ["Y"]}])",
          "States.A.Retry[1]: several retriers are not supported"},
      Case{
          R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["X"],
              "JitterStrategy": "FULL"}])",
          "States.A.Retry[0].JitterStrategy: 'FULL' is not supported"},
      Case{
          R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Catch": [{"ErrorEquals": ["X"], "ResultPath": "$.e",
              "Next": "B"}])",
          "States.A.Catch[0].ResultPath: in a Catch only \"$.error\" and null are supported"},
      Case{R"("Type": "Choice", "Choices": [{"Variable": "$.x", "StringMatches": "a\\*", "Next": "B"}])",
           "States.A.Choices[0].StringMatches: escapes in patterns are not supported"},
      Case{
          R"("Type": "Map", "Next": "B", "ItemProcessor": {"ProcessorConfig": {"Mode": "DISTRIBUTED"},
              "StartAt": "C", "States": {"C": {"Type": "Succeed"}}})",
          "States.A.ItemProcessor.ProcessorConfig.Mode: 'DISTRIBUTED' is not supported"},
  };
  expect_one_error_each(cases);
}

TEST(AslRefused, ChecksTheRulesOfTheLanguage) {
  const std::array cases = {
      Case{R"("Type": "Tsk")", "States.A.Type: 'Tsk' is not known. Did you mean 'Task'?"},
      Case{R"("Resource": "fn:f")", "States.A: the field 'Type' is missing"},
      Case{R"("Type": "Task", "Next": "B")",
           "States.A: the field 'Resource' is missing; write \"Resource\": \"fn:NAME\""},
      Case{R"("Type": "Pass")", "States.A: says not how it goes on; write \"Next\": \"STATE\" or \"End\": true"},
      Case{R"("Type": "Pass", "Next": "B", "End": true)", "States.A.End: a state has either 'Next' or 'End', not both"},
      Case{R"("Type": "Pass", "Next": "C")", "States.A.Next: there is no state 'C' here. Known: A, B."},
      Case{R"("Type": "Pass", "Next": "")", "States.A.Next: is empty"},
      Case{R"("Type": "Pass", "Next": 5)", "States.A.Next: expected text in quotes, got 5"},
      Case{R"("Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "Next": "A"}], "Default": "B")",
           "States.A: loops are not supported; these states lead back to the first: 'A' → 'A'"},
      Case{R"("Type": "Pass", "Next": "B", "Comments": "")",
           "States.A: unknown field 'Comments'. Did you mean 'Comment'?"},
      Case{R"("Type": "Pass", "Next": "B", "Next": "B")", "States.A: the field 'Next' appears twice"},
      Case{R"("Type": "Pass", "End": true)", "States.B: nothing leads to this state"},
      Case{R"("Type": "Succeed", "Next": "B")", "States.A.Next: a state of this Type has no 'Next'"},
      Case{R"("Type": "Fail", "End": true)", "States.A.End: a state of this Type has no 'End'"},
      Case{R"("Type": "Wait", "Next": "B")", "States.A: the field 'Seconds' is missing"},
      Case{R"("Type": "Wait", "Seconds": 1.5, "Next": "B")", "States.A.Seconds: '1.5' is not a whole number"},
      Case{R"("Type": "Wait", "Seconds": 99999999, "Next": "B")",
           "States.A.Seconds: is 99999999, must be from 0 to 31622400"},
  };
  expect_one_error_each(cases);
}

TEST(AslRefused, ChecksTheRulesOfChoices) {
  const std::array cases = {
      Case{R"("Type": "Choice", "Choices": [], "Default": "B")", "States.A.Choices: is empty"},
      Case{R"("Type": "Choice", "Default": "B")", "States.A: the field 'Choices' is missing"},
      Case{R"("Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true}], "Default": "B")",
           "States.A.Choices[0]: the field 'Next' is missing"},
      Case{R"("Type": "Choice", "Choices": [{"Variable": "$.x", "Next": "B"}])",
           "States.A.Choices[0]: compares nothing"},
      Case{R"("Type": "Choice", "Choices": [{"IsPresent": true, "Next": "B"}])",
           "States.A.Choices[0]: the field 'Variable' is missing"},
      Case{R"("Type": "Choice", "Choices": [{"Variable": "$.x", "IsPresent": true, "StringEquals": "x", "Next": "B"}])",
           "States.A.Choices[0]: holds more than one comparison"},
      Case{R"("Type": "Choice", "Choices": [{"And": [], "Next": "B"}])", "States.A.Choices[0].And: is empty"},
      Case{
          R"("Type": "Choice", "Choices": [{"Not": {"Variable": "$.x", "IsPresent": true, "Next": "B"}, "Next": "B"}])",
          "States.A.Choices[0].Not.Next: only the outermost rule has 'Next'"},
      Case{R"("Type": "Choice", "Choices": [{"Variable": "$.x", "NumericEquals": "1", "Next": "B"}])",
           "States.A.Choices[0].NumericEquals: '1' is not a number"},
      Case{R"("Type": "Choice", "Choices": [{"Variable": "$.x", "StringEquals": 1, "Next": "B"}])",
           "States.A.Choices[0].StringEquals: expected text in quotes, got 1"},
      Case{
          R"("Type": "Choice", "Choices": [{"Variable": "$.x", "NumericGreaterThen": 1, "IsPresent": true,
              "Next": "B"}])",
          "Did you mean 'NumericGreaterThan'?"},
  };
  expect_one_error_each(cases);
}

TEST(AslRefused, ChecksTheRulesOfParallelAndMap) {
  const std::array cases = {
      Case{R"("Type": "Parallel", "Branches": [], "Next": "B")", "States.A.Branches: is empty"},
      Case{R"("Type": "Parallel", "Branches": [{"StartAt": "B", "States": {"B": {"Type": "Succeed"}}}], "Next": "B")",
           "States.B: the name 'B' is used already"},
      Case{
          R"("Type": "Parallel", "Branches": [{"StartAt": "C", "States": {"C": {"Type": "Pass", "Next": "B"}}}],
              "Next": "B")",
          "A state leads only to states of the same \"States\""},
      Case{R"("Type": "Parallel", "Branches": [{"StartAt": "C", "States": {"C": {"Type": "Fail"}}}], "Next": "B")",
           "States.A.Next: is never reached: every branch only fails"},
      Case{
          R"("Type": "Parallel", "Branches": [{"StartAt": "C", "States": {"C": {"Type": "Pass", "End": true}}}],
              "End": true, "Catch": [{"ErrorEquals": ["X"], "Next": "B"}])",
          "States.A.Catch: nothing inside can fail with 'X'"},
      Case{R"("Type": "Map", "Next": "B")", "States.A: the field 'ItemProcessor' is missing"},
      Case{
          R"("Type": "Map", "Next": "B", "MaxConcurrency": -1, "ItemProcessor": {"StartAt": "C",
              "States": {"C": {"Type": "Succeed"}}})",
          "States.A.MaxConcurrency: is -1, must be from 0"},
      Case{R"("Type": "Map", "Next": "B", "ItemProcessor": {"StartAt": "X", "States": {"C": {"Type": "Succeed"}}})",
           "States.A.ItemProcessor.StartAt: there is no state 'X' here."},
  };
  expect_one_error_each(cases);
}

TEST(AslRefused, ChecksTheRulesOfRetryAndCatch) {
  const std::array cases = {
      Case{R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{}])",
           "States.A.Retry[0]: the field 'ErrorEquals' is missing"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": []}])",
           "States.A.Retry[0].ErrorEquals: is empty"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["States.Timout"]}])",
           "States.A.Retry[0].ErrorEquals[0]: 'States.Timout' is not an error of ASL. Did you mean 'States.Timeout'?"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["X", "States.ALL"]}])",
           "States.A.Retry[0].ErrorEquals[1]: 'States.ALL' must stand alone"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["all"]}])",
           "'all' stands for every error in Sluice"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["X"], "MaxAttempts": 101}])",
           "States.A.Retry[0].MaxAttempts: is 101, must be from 0 to 100"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["X"], "BackoffRate": 0.5}])",
           "States.A.Retry[0].BackoffRate: is 0.5, must be from 1"},
      Case{
          R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["X"], "IntervalSeconds": 0}])",
          "States.A.Retry[0].IntervalSeconds: is 0, must be from 1"},
      Case{
          R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Retry": [{"ErrorEquals": ["X"],
              "IntervalSeconds": 5, "MaxDelaySeconds": 5}])",
          "States.A.Retry[0].MaxDelaySeconds: must be greater than IntervalSeconds"},
      Case{
          R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Catch": [{"ErrorEquals": ["States.ALL"],
              "Next": "B"}, {"ErrorEquals": ["X"], "Next": "B"}])",
          "States.A.Catch[1]: is never used: 'States.ALL' must be in the last catcher"},
      Case{
          R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Catch": [{"ErrorEquals": ["X"], "Next": "B"},
              {"ErrorEquals": ["X"], "Next": "B"}])",
          "States.A.Catch[1]: 'X' is caught above already"},
      Case{R"("Type": "Task", "Resource": "fn:f", "Next": "B", "Catch": [{"ErrorEquals": ["X"], "Next": "A"}])",
           "loops are not supported"},
  };
  expect_one_error_each(cases);
}

TEST(AslRefused, ChecksTheDocument) {
  const std::string states = R"("StartAt": "A", "States": {"A": {"Type": "Succeed"}})";
  const std::array cases = {
      Case{R"("SLO": {"DeadlineMs": 1}, "Version": "1.1")", "Version: only \"1.0\" is supported"},
      Case{R"("SLO": {"DeadlineMs": 1}, "QueryLanguage": "JSONata")", "QueryLanguage: only \"JSONPath\" is supported"},
      Case{R"("SLO": {"DeadlineMs": 1}, "TimeoutSeconds": 3)",
           "TimeoutSeconds: 'TimeoutSeconds' is not supported; the deadline is the SLO"},
      Case{R"("Version": "1.0")",
           "the field 'SLO' is missing; write \"SLO\": {\"DeadlineMs\": 200, \"Percentile\": 95}"},
      Case{R"("SLO": {"Percentile": 95})", "SLO: the field 'DeadlineMs' is missing"},
      Case{R"("SLO": {"DeadlineMs": "200ms"})", "SLO.DeadlineMs: '200ms' is not a number"},
      Case{R"("SLO": {"DeadlineMs": -1})", "SLO.DeadlineMs: is -1, must be from 0"},
      Case{R"("SLO": {"DeadlineMs": 1, "Percentil": 5})", "SLO: unknown field 'Percentil'. Did you mean 'Percentile'?"},
      Case{R"("SLO": {"DeadlineMs": 1}, "Stats": {})", "unknown field 'Stats'. Did you mean 'States'?"},
      Case{R"("SLO": {"DeadlineMs": 1}, "Application": "a/b")", "Application: 'a/b' is not a name"},
      Case{R"("SLO": {"DeadlineMs": 1}, "Functions": {"f": {}})", "Functions: expected a list, got a mapping"},
      Case{R"("SLO": {"DeadlineMs": 1}, "Outputs": ["x"])", "Outputs: expected a mapping, got a list"},
  };
  for (const Case& c : cases) {
    const std::string got = errors(str("{", c.fields, ", ", states, "}"));
    EXPECT_TRUE(says(got, c.expected)) << c.fields << "\n" << got;
    EXPECT_EQ(std::count(got.begin(), got.end(), '\n'), 1) << got;
  }
  EXPECT_EQ(errors("[]"), "1:1 : expected a mapping, got a list\n");
  EXPECT_TRUE(says(errors(machine("B", R"("A": {"Type": "Succeed"})")), "StartAt: there is no state 'B' here."));
  EXPECT_TRUE(says(errors(machine("A", "")), "States: is empty"));
  EXPECT_TRUE(says(errors(machine("a.b", R"("a.b": {"Type": "Succeed"})")), "'a.b' is not a name"));
  EXPECT_TRUE(says(errors(machine("request", R"("request": {"Type": "Succeed"})")),
                   "'request' stands for the call's own inputs"));
  EXPECT_TRUE(says(errors(R"({"SLO": {"DeadlineMs": 1}})"), "the field 'StartAt' is missing"));
}

TEST(AslRefused, ReportsAllErrorsWithTheirPlaces) {
  EXPECT_EQ(
      errors(R"({"StartAt": "A", "TimeoutSeconds": 5,
"States": {
  "A": {"Type": "Task", "Resource": "http://x", "TimeoutSeconds": 1, "Next": "B"},
  "B": {"Type": "Task", "Resource": "fn:b", "Retry": [{"ErrorEquals": ["X"], "MaxAttempts": -1}], "Next": "C"},
  "C": {"Type": "Task", "Resource": "fn:c", "Parameters": {"x.$": "$.a.b"}, "End": true}}})"),
      "1:1 : the field 'SLO' is missing; write \"SLO\": {\"DeadlineMs\": 200, \"Percentile\": 95}\n"
      "1:36 TimeoutSeconds: 'TimeoutSeconds' is not supported; the deadline is the SLO of the whole call (\"SLO\": "
      "{\"DeadlineMs\": 200})\n"
      "3:37 States.A.Resource: 'http://x' is not supported; a Resource is a function: write \"fn:NAME\"\n"
      "3:67 States.A.TimeoutSeconds: 'TimeoutSeconds' is not supported; the deadline is the SLO of the whole call\n"
      "4:93 States.B.Retry[0].MaxAttempts: is -1, must be from 0 to 100\n"
      "5:67 States.C.Parameters.x: '$.a.b': leads beyond an output of 'B'; paths beyond plain references are not "
      "supported\n");
}

TEST(AslRefused, NamesTheStatesOfALoop) {
  EXPECT_TRUE(
      says(errors(machine("A", R"("A": {"Type": "Pass", "Next": "B"}, "B": {"Type": "Wait", "Seconds": 1, "Next": "C"},
      "C": {"Type": "Choice", "Choices": [{"Variable": "$.done", "BooleanEquals": false, "Next": "B"}],
          "Default": "D"}, "D": {"Type": "Succeed"})")),
           "States.B: loops are not supported; these states lead back to the first: 'B' → 'C' → 'B'"));
}

TEST(AslRefused, NeedsAFreeNameForAStageOnTheWay) {
  const auto document = [](const std::string& target, const std::string& other) {
    return machine(
        "C", str(R"("C": {"Type": "Choice", "Default": ")", other,
                 R"(", "Choices": [{"Variable": "$.a", "IsPresent": true, "Next": ")", target, R"("}]}, ")", other,
                 R"(": {"Type": "Pass", "Next": ")", target, R"("}, ")", target, R"(": {"Type": "Succeed"})"));
  };
  EXPECT_EQ(errors(document("X", "D")), "");
  EXPECT_TRUE(says(errors(document("X", "C to X")), "States.C: the name 'C to X' is used already"));
  EXPECT_TRUE(says(errors(document(std::string(127, 'x'), "D")), "shorten the names of the states"));
}

// A Choice of `count` rules that all lead to different states.
std::string many_rules(const std::string& name, std::size_t count) {
  std::string choices, states;
  for (std::size_t i = 0; i < count; ++i) {
    choices += str(i == 0 ? "" : ",", R"({"Variable":"$.x","NumericEquals":)", i, R"(,"Next":")", name, i, "\"}");
    states += str(R"(,")", name, i, R"(":{"Type":"Succeed"})");
  }
  return str("\"", name, R"(":{"Type":"Choice","Choices":[)", choices, "]}", states);
}

TEST(AslRefused, LimitsTheLengthOfConditions) {
  EXPECT_EQ(errors(machine("C", many_rules("C", 256))), "");
  EXPECT_TRUE(says(errors(machine("C", many_rules("C", 257))), "the rules need a condition of 257 comparisons"));
  EXPECT_TRUE(says(errors_of(str(R"("Type": "Choice", "Choices": [{"Variable": "$.x", "StringEquals": ")",
                                 std::string(1025, 'x'), R"(", "Next": "B"}])")),
                   "has 1025 bytes, at most 1024 are allowed"));
}

TEST(AslRefused, LimitsWhatASmallDocumentMayBecome) {
  std::string branches;
  for (int i = 0; i < 20; ++i)
    branches +=
        str(i == 0 ? "" : ",", R"({"StartAt":"C)", i, R"(-","States":{)", many_rules(str("C", i, "-"), 200), "}}");
  branches = errors(machine("P", str(R"("P":{"Type":"Parallel","End":true,"Branches":[)", branches, "]}")));
  EXPECT_TRUE(says(branches, "more than 200000 copies")) << branches.substr(0, 200);
  EXPECT_EQ(std::count(branches.begin(), branches.end(), '\n'), 1);

  std::string catchers, states;
  for (int i = 0; i < 1'000; ++i) catchers += str(i == 0 ? "" : ",", R"({"ErrorEquals":["E)", i, R"("],"Next":"H"})");
  for (int i = 0; i < 1'000; ++i)
    states += str(R"("T)", i, R"(":{"Type":"Task","Resource":"fn:f","Next":"T)", i + 1, "\"},");
  EXPECT_TRUE(says(errors(machine("P", str(R"("H":{"Type":"Fail"},"P":{"Type":"Parallel","End":true,"Catch":[)",
                                           catchers, R"(],"Branches":[{"StartAt":"T0","States":{)", states,
                                           R"("T1000":{"Type":"Succeed"}}}]})"))),
                   "more than 200000 copies"));
}

TEST(AslRefused, SurvivesEveryTruncatedOrMutatedDocument) {
  const std::string whole = machine(
      "A",
      R"("A":{"Type":"Task","Resource":"fn:f","Retry":[{"ErrorEquals":["X"]}],"Catch":[{"ErrorEquals":["States.ALL"],
    "Next":"F"}],"Next":"P"},"P":{"Type":"Parallel","Branches":[{"StartAt":"M","States":{"M":{"Type":"Map",
        "ItemsPath":"$.x","Iterator":{"StartAt":
    "T","States":{"T":{"Type":"Pass","End":true}}},"End":true}}}],"Next":"C"},"C":{"Type":"Choice",
        "Choices":[{"Not":{"Variable":"$[0].x",
    "NumericEquals":1},"Next":"F"}],"Default":"S"},"S":{"Type":"Succeed"},"F":{"Type":"Fail"})");
  EXPECT_EQ(errors(whole), "");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const char c : {'0', '"', '{', '}', '[', ',', 'A', '$', '\\', '\0', '\xff'}) {
      std::string changed = whole;
      changed[i] = c;
      (void)import(changed);
    }
    (void)import(whole.substr(0, i));
    (void)import(whole.substr(0, i) + whole.substr(i + 1));
  }
}

}  // namespace
}  // namespace sluice::spec
