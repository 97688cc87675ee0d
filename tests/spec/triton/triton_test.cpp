#include "spec/triton/triton.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"
#include "spec/triton/pbtxt_reader.h"

namespace sluice::spec {
namespace {

using Texts = std::vector<std::string>;

struct Outcome {
  std::optional<TritonEnsemble> ensemble;
  Texts errors, warnings;  // "line: field: message", in document order
};

void sort_out(const Diagnostics& out, Outcome& outcome) {
  for (const Diagnostic& d : out.sorted()) {
    const std::string field = d.field.empty() ? "" : str(d.field, ": ");
    (d.severity == Diagnostic::Severity::error ? outcome.errors : outcome.warnings)
        .push_back(str(d.mark.line, ": ", field, d.message));
  }
}

Outcome read(const std::string& text, std::span<const FunctionDraft> known = {}) {
  Outcome outcome;
  Diagnostics out;
  const auto node = read_pbtxt(text, "config.pbtxt", out);
  if (node) outcome.ensemble = read_triton(*node, {.file = "config.pbtxt", .name = "folder", .known = known}, out);
  EXPECT_EQ(outcome.ensemble.has_value(), !out.has_errors());
  sort_out(out, outcome);
  return outcome;
}

// Preprocessing feeds two branches that meet again; one model runs twice.
const std::string kJoin = R"(name: "detect"
platform: "ensemble"
max_batch_size: 0
input [ { name: "RAW" data_type: TYPE_UINT8 dims: [ -1, -1, 3 ] }, { name: "LIMIT", data_type: TYPE_FP32, dims: 1 } ]
output { name: "LABEL" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "MASK" data_type: TYPE_BF16 dims: [ 1, 224, 224 ] }
parameters { key: "slo_ms" value { string_value: "200" } }
ensemble_scheduling {
  step [
    {
      model_name: "classify"
      model_version: -1
      input_map { key: "image" value: "small" }
      input_map { key: "mask" value: "MASK" }
      input_map { key: "same_image" value: "small" }
      output_map { key: "label.0" value: "LABEL" }
    },
    {
      model_name: "resize"
      model_version: -1
      input_map { key: "image" value: "RAW" }
      output_map { key: "out" value: "small" }
    },
    {
      model_name: "resize"
      input_map { key: "image" value: "small" }
      output_map { key: "out" value: "tiny" }
    },
    {
      model_name: "segment"
      input_map [ { key: "x" value: "tiny" }, { key: "limit" value: "LIMIT" } ]
      output_map { key: "mask:0" value: "MASK" }
    }
  ]
}
)";

// An ensemble of the given step; `rest` stands in line 5, the step in line 7.
const std::string kSlo = R"(parameters { key: "slo_ms" value { string_value: "50" } })";
std::string ensemble(const std::string& step, const std::string& rest = "", const std::string& slo = kSlo) {
  return R"(name: "one" platform: "ensemble"
input { name: "IN" data_type: TYPE_FP32 dims: 4 }
output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
)" + slo +
         "\n" + rest + "\nensemble_scheduling {\n step " + step + "\n}\n";
}
const std::string kStep =
    R"({ model_name: "m" input_map { key: "x" value: "IN" } output_map { key: "y" value: "OUT" } })";

const FunctionDraft kKnown = {.function = {.name = "m", .cpu = Body{.runtime = Runtime::python, .model = "m.py"}},
                              .file = "functions.yaml",
                              .mark = {3, 1},
                              .listed_here = false};

Outcome read_known(const std::string& text) {
  return read(text, std::span(&kKnown, 1));
}

Texts texts(const std::vector<Name>& names) {
  Texts out;
  for (const Name& name : names) out.push_back(name.text);
  return out;
}
Texts texts(const std::vector<std::pair<Name, Name>>& bindings) {
  Texts out;
  for (const auto& [to, from] : bindings) out.push_back(str(to.text, "=", from.text));
  return out;
}

TEST(Triton, TurnsStepsIntoStages) {
  const auto outcome = read(kJoin);
  ASSERT_TRUE(outcome.ensemble) << outcome.errors.front();
  const ApplicationDraft& draft = outcome.ensemble->draft;
  EXPECT_EQ(draft.file, "config.pbtxt");
  EXPECT_EQ(draft.application.name, "detect");
  EXPECT_EQ(draft.application.tenant, "default");
  EXPECT_EQ(draft.application.objective, (Objective{.latency = Duration::ms(200), .percentile = {}}));
  Texts stages, functions;
  for (const StageDraft& stage : draft.workflow.stages) {
    stages.push_back(stage.name.text);
    functions.push_back(stage.function.text);
    EXPECT_EQ(stage.stage.kind, Stage::Kind::run);
  }
  EXPECT_EQ(stages, (Texts{"classify", "resize", "resize 2", "segment"}));
  EXPECT_EQ(functions, (Texts{"classify", "resize", "resize", "segment"}));
}

TEST(Triton, FollowsTensorsByName) {
  const auto outcome = read(kJoin);
  ASSERT_TRUE(outcome.ensemble);
  const auto& stages = outcome.ensemble->draft.workflow.stages;
  EXPECT_EQ(texts(stages[0].after), (Texts{"resize", "segment"}));  // in the order of the inputs, each once
  EXPECT_EQ(texts(stages[1].after), (Texts{}));
  EXPECT_EQ(texts(stages[2].after), (Texts{"resize"}));
  EXPECT_EQ(texts(stages[3].after), (Texts{"resize 2"}));
  EXPECT_EQ(texts(stages[0].inputs), (Texts{"image=resize.out", "mask=segment.mask:0", "same_image=resize.out"}));
  EXPECT_EQ(texts(stages[1].inputs), (Texts{"image=request.RAW"}));
  EXPECT_EQ(texts(stages[3].inputs), (Texts{"x=resize 2.out", "limit=request.LIMIT"}));
  EXPECT_EQ(texts(outcome.ensemble->draft.outputs), (Texts{"LABEL=classify.label.0", "MASK=segment.mask:0"}));
}

TEST(Triton, KeepsPositions) {
  const auto outcome = read(kJoin);
  ASSERT_TRUE(outcome.ensemble);
  const ApplicationDraft& draft = outcome.ensemble->draft;
  const StageDraft& classify = draft.workflow.stages[0];
  EXPECT_EQ(classify.name.mark, (Mark{10, 5}));
  EXPECT_EQ(classify.function.mark, (Mark{11, 19}));
  EXPECT_EQ(classify.inputs[1].first.mark, (Mark{14, 24}));
  EXPECT_EQ(classify.inputs[1].second.mark, (Mark{14, 38}));
  EXPECT_EQ(classify.after[1].mark, (Mark{14, 38}));
  EXPECT_EQ(classify.marks.at("after"), (Mark{13, 39}));
  EXPECT_EQ(draft.outputs[1].first.mark, (Mark{6, 16}));
  EXPECT_EQ(draft.marks.at("application"), (Mark{1, 7}));
  EXPECT_EQ(draft.marks.at("slo.latency"), (Mark{7, 50}));
}

TEST(Triton, KeepsTheDeclaredTensors) {
  const auto outcome = read(kJoin);
  ASSERT_TRUE(outcome.ensemble);
  EXPECT_EQ(outcome.ensemble->inputs, (std::vector<Port>{{.name = "RAW", .type = DataType::uint8, .shape = {-1, -1, 3}},
                                                         {.name = "LIMIT", .type = DataType::fp32, .shape = {1}}}));
  EXPECT_EQ(outcome.ensemble->outputs,
            (std::vector<Port>{{.name = "LABEL", .type = DataType::bytes, .shape = {1}},
                               {.name = "MASK", .type = DataType::bf16, .shape = {1, 224, 224}}}));
}

TEST(Triton, KnowsEveryDataType) {
  for (const std::string_view name : data_type_names()) {
    const std::string triton = name == "BYTES" ? "TYPE_STRING" : str("TYPE_", name);
    std::string text = ensemble(kStep);
    text.replace(text.find("TYPE_FP32"), 9, triton);
    const auto outcome = read_known(text);
    ASSERT_TRUE(outcome.ensemble) << triton;
    EXPECT_EQ(outcome.ensemble->inputs[0].type, data_type_of(name)) << triton;
  }
}

TEST(Triton, EmulatesModelsNobodyKnowsAndSaysSo) {
  const auto outcome = read(kJoin);
  ASSERT_TRUE(outcome.ensemble);
  const auto& functions = outcome.ensemble->draft.functions;
  ASSERT_EQ(functions.size(), 3u);  // each model once
  EXPECT_EQ(functions[1].function.name, "resize");
  EXPECT_EQ(functions[1].function.cpu, Body{.runtime = Runtime::emulated});
  EXPECT_EQ(functions[1].function.gpu, Body{.runtime = Runtime::emulated});
  EXPECT_TRUE(functions[1].function.inputs.empty());
  EXPECT_EQ(functions[1].mark, (Mark{19, 19}));
  ASSERT_EQ(outcome.warnings.size(), 3u);
  EXPECT_EQ(outcome.warnings[1],
            "19: ensemble_scheduling.step[1].model_name: there is no function 'resize', so this step is emulated. "
            "Describe it in functions.yaml beside this file or in ../resize/config.pbtxt.");
}

TEST(Triton, RunsKnownFunctions) {
  const auto outcome = read_known(ensemble(kStep));
  ASSERT_TRUE(outcome.ensemble);
  EXPECT_TRUE(outcome.warnings.empty());
  ASSERT_EQ(outcome.ensemble->draft.functions.size(), 1u);
  EXPECT_EQ(outcome.ensemble->draft.functions[0].function, kKnown.function);
  EXPECT_EQ(outcome.ensemble->draft.functions[0].file, "functions.yaml");
  EXPECT_FALSE(outcome.ensemble->draft.functions[0].listed_here);
}

TEST(Triton, SuggestsTheKnownFunctionThatIsNear) {
  const FunctionDraft known{.function = {.name = "resize"}};
  const auto outcome = read(
      ensemble(R"({ model_name: "resise" input_map { key: "x" value: "IN" } output_map { key: "y" value: "OUT" } })"),
      std::span(&known, 1));
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_TRUE(outcome.warnings[0].ends_with(" Did you mean 'resize'?"));
}

TEST(Triton, NumbersStagesAroundModelsOfThatName) {
  const auto step = [](std::string_view model, int from) {
    return str("{ model_name: \"", model, "\" input_map { key: \"x\" value: \"t", from,
               "\" } output_map { key: \"y\" value: \"t", from + 1, "\" } }");
  };
  const auto outcome = read(R"(platform: "ensemble"
    input { name: "t0" data_type: TYPE_FP32 dims: 4 } output { name: "t5" data_type: TYPE_FP32 dims: 4 }
    parameters { key: "slo_ms" value { string_value: "50" } }
    ensemble_scheduling { step [ )" +
                            step("a", 0) + "," + step("a 2", 1) + "," + step("a", 2) + "," + step("a", 3) + "," +
                            step("a 2", 4) + "] }");
  ASSERT_TRUE(outcome.ensemble);
  Texts names;
  for (const StageDraft& stage : outcome.ensemble->draft.workflow.stages) names.push_back(stage.name.text);
  EXPECT_EQ(names, (Texts{"a", "a 2", "a 3", "a 4", "a 2 2"}));
}

TEST(Triton, ReadsObjectiveAndTenantFromParameters) {
  const auto outcome = read_known(R"(backend: "ensemble"
    input { name: "IN" data_type: TYPE_FP32 dims: 4 } output { name: "OUT" data_type: TYPE_FP32 dims: 4 }
    parameters [ { key: "slo_ms" value: { string_value: "12.5" } },
                 { key: "slo_percentile", value { string_value: "99.9" } },
                 { key: "slo_prefer", value { string_value: "latency" } } ]
    parameters: { key: "tenant" value { string_value: "vision" } }
    ensemble_scheduling { step )" +
                                  kStep + "}");
  ASSERT_TRUE(outcome.ensemble) << outcome.errors.front();
  const Application& application = outcome.ensemble->draft.application;
  EXPECT_EQ(application.name, "folder");  // the document has no name
  EXPECT_EQ(application.tenant, "vision");
  EXPECT_EQ(application.objective,
            (Objective{.latency = Duration::us(12'500), .percentile = 99.9, .prefer = Prefer::latency}));
}

TEST(Triton, TakesStepsWithoutPlatformForAnEnsemble) {
  std::string text = ensemble(kStep);
  text.erase(text.find("platform: \"ensemble\""), 20);
  EXPECT_TRUE(read_known(text).ensemble);
}

TEST(Triton, LeavesCyclesToBuild) {
  const auto outcome = read_known(ensemble(R"([
    { model_name: "m" input_map [ { key: "x" value: "IN" }, { key: "z" value: "b" } ]
      output_map { key: "y" value: "OUT" } },
    { model_name: "m" input_map { key: "x" value: "OUT" } output_map { key: "y" value: "b" } } ])"));
  ASSERT_TRUE(outcome.ensemble);
  EXPECT_EQ(texts(outcome.ensemble->draft.workflow.stages[0].after), (Texts{"m 2"}));
  EXPECT_EQ(texts(outcome.ensemble->draft.workflow.stages[1].after), (Texts{"m"}));
}

TEST(Triton, WarnsOfWhatItIgnores) {
  const auto outcome = read_known(R"(name: "one" platform: "ensemble"
input { name: "IN" data_type: TYPE_FP32 dims: 4 format: FORMAT_NCHW is_shape_tensor: true
  optional: true allow_ragged_batch: true }
input { name: "SPARE" data_type: TYPE_FP32 dims: 4 optional: false is_non_linear_format_io: false }
output { name: "OUT" data_type: TYPE_FP32 dims: 4 label_filename: "labels.txt" }
parameters { key: "slo_ms" value { string_value: "50" } }
parameters { key: "slo_precentile" value { string_value: "50" } }
max_batch_size: 8
version_policy { latest { num_versions: 1 } }
instance_group [ { count: 1 kind: KIND_CPU } ]
instance_group [ { count: 1 kind: KIND_GPU } ]
dynamic_batching { }
response_cache { enable: true }
model_transaction_policy { decoupled: false }
ensemble_scheduling {
  max_inflight_responses: 3
  step { model_name: "m" model_version: 2 model_namespace: "n"
    input_map { key: "x" value: "IN" } output_map { key: "y" value: "OUT" } }
  step { model_name: "m"
    input_map { key: "x" value: "IN" } output_map { key: "y" value: "spare" } }
}
)");
  ASSERT_TRUE(outcome.ensemble) << outcome.errors.front();
  EXPECT_EQ(
      outcome.warnings,
      (Texts{
          "2: input[0].format: ignored: the layout of an image is the functions' affair",
          "2: input[0].is_shape_tensor: ignored: a shape tensor is passed like any other",
          "3: input[0].optional: ignored: a request brings every input",
          "3: input[0].allow_ragged_batch: ignored: a batch holds inputs of any shape its function takes",
          "4: input: no step reads the input 'SPARE'",
          "4: input[1].is_non_linear_format_io: ignored: tensors are passed in linear order",
          "5: output.label_filename: ignored: answers carry numbers, not labels",
          "7: parameters[1].value.string_value: ignored: Sluice knows no parameter 'slo_precentile'. Did you mean "
          "'slo_percentile'?",
          "8: max_batch_size: ignored: Sluice chooses batches by the objective; a request brings one of each input",
          "9: version_policy: ignored: a function has one version, that of its content",
          "10: instance_group: ignored: Sluice chooses where functions are loaded, and how often",
          "12: dynamic_batching: ignored: Sluice chooses batches by the objective",
          "13: response_cache: ignored: answers are not cached",
          "16: ensemble_scheduling.max_inflight_responses: ignored: every step answers once",
          "17: ensemble_scheduling.step[0].model_version: ignored: a function has one version, that of its content; -1 "
          "says the same",
          "17: ensemble_scheduling.step[0].model_namespace: ignored: a function's name is enough",
          "19: ensemble_scheduling.step[1]: runs with every request, but nobody reads what it makes",
      }));
}

TEST(Triton, KnowsEveryFieldOfTritonThatMeansNothingHere) {
  for (const std::string_view field :
       {"version_policy", "optimization", "instance_group", "dynamic_batching", "sequence_batching", "batch_input",
        "batch_output", "model_warmup", "response_cache", "metric_tags", "model_metrics", "default_model_filename",
        "cc_model_filenames", "model_operations", "model_repository_agents", "runtime"}) {
    const auto outcome = read_known(ensemble(kStep, str(field, " { }")));
    ASSERT_EQ(outcome.warnings.size(), 1u) << field;
    EXPECT_TRUE(outcome.warnings[0].starts_with(str("5: ", field, ": ignored: "))) << outcome.warnings[0];
  }
}

struct Fault {
  std::string text;
  Texts errors;
};

TEST(Triton, RefusesWhatIsNoEnsemble) {
  const std::string only = ". Only a configuration with platform: \"ensemble\" describes a workflow";
  EXPECT_EQ(read("platform: \"onnxruntime_onnx\"").errors,
            Texts{"1: this is not an ensemble: its platform is 'onnxruntime_onnx'" + only});
  EXPECT_EQ(read("backend: \"python\"").errors, Texts{"1: this is not an ensemble: its backend is 'python'" + only});
  EXPECT_EQ(read("name: \"x\"").errors,
            Texts{"1: this is not an ensemble: it has neither a platform nor ensemble_scheduling" + only});
  Diagnostics out;
  EXPECT_FALSE(read_triton(Node{.kind = Node::Kind::sequence}, {.file = "f"}, out));
  EXPECT_TRUE(out.has_errors());
}

// The errors of an ensemble with this parameter in place of its objective.
Texts errors_with(std::string_view key, std::string_view value) {
  return read_known(
             ensemble(kStep, "", str("parameters { key: \"", key, "\" value { string_value: \"", value, "\" } }")))
      .errors;
}

const std::string kNoObjective =
    "1: the latency objective is missing; write parameters { key: \"slo_ms\" value { string_value: \"200\" } } with "
    "the "
    "milliseconds a whole call may take";

TEST(Triton, AsksForTheObjective) {
  EXPECT_EQ(read_known(ensemble(kStep, "", "")).errors, Texts{kNoObjective});
  EXPECT_EQ(errors_with("slo", "200"), Texts{kNoObjective});
}

TEST(Triton, RefusesParametersThatMakeNoSense) {
  for (const std::string_view bad : {"200ms", "0", "-5", "fast", "1e300", "99999999999999999"}) {
    EXPECT_EQ(
        errors_with("slo_ms", bad),
        Texts{str("4: parameters.value.string_value: '", bad,
                  "' is not a latency: write a positive number of milliseconds without a unit, such as \"200\"")});
  }
  for (const std::string_view bad : {"0", "100", "p95", "-1"}) {
    EXPECT_EQ(errors_with("slo_percentile", bad),
              (Texts{kNoObjective, str("4: parameters.value.string_value: '", bad,
                                       "' is not a percentile: write a number between 0 and 100, such as \"95\"")}));
  }
  EXPECT_EQ(errors_with("tenant", "a/b").size(), 2u);
  EXPECT_EQ(errors_with("slo_ms", ""), Texts{"4: parameters.value.string_value: is empty"});
  EXPECT_EQ(read_known(ensemble(kStep, kSlo)).errors,
            Texts{"5: parameters[1].key: the parameter 'slo_ms' is given twice"});
  EXPECT_EQ(read_known(ensemble(kStep, "", "parameters { key: \"slo_ms\" value: \"200\" }")).errors,
            Texts{"4: parameters.value: expected a mapping, got '200'"});
  EXPECT_EQ(read_known(ensemble(kStep, "", "parameters { key: \"slo_ms\" }")).errors,
            Texts{"4: parameters: the field 'value' is missing; write value { string_value: \"200\" }"});
}

TEST(Triton, RefusesBrokenSteps) {
  const std::string maps = R"(input_map { key: "x" value: "IN" } output_map { key: "y" value: "OUT" })";
  const Fault cases[] = {
      {"{ " + maps + " }",
       {"7: ensemble_scheduling.step: the field 'model_name' is missing; write model_name: \"resize\""}},
      {"{ model_name: \"\" " + maps + " }", {"7: ensemble_scheduling.step.model_name: is empty"}},
      {"{ model_name: \"a.b\" " + maps + " }",
       {"7: ensemble_scheduling.step.model_name: 'a.b' is not a name: letters, digits, '-', '_' and blanks inside, at "
        "most 128 characters"}},
      {"{ model_name: \"m\" model_name: \"n\" " + maps + " }",
       {"7: ensemble_scheduling.step.model_name: is given more than once"}},
      {"{ model_name: \"m\" model_version: latest " + maps + " }",
       {"7: ensemble_scheduling.step.model_version: 'latest' is not a whole number"}},
      {"{ model_name: \"m\" model_verison: 1 " + maps + " }",
       {"7: ensemble_scheduling.step: unknown field 'model_verison'. Did you mean 'model_version'?"}},
      {"{ model_name: \"m\" output_map { key: \"y\" value: \"OUT\" } }",
       {"7: ensemble_scheduling.step: the field 'input_map' is missing; write input_map { key: \"model_input\" value: "
        "\"tensor\" }"}},
      {"{ model_name: \"m\" input_map { key: \"x\" value: \"IN\" } output_map [] }",
       {"3: output: no step makes the tensor 'OUT'. Known: IN.",
        "7: ensemble_scheduling.step.output_map: is empty; write output_map { key: \"model_output\" value: \"tensor\" "
        "}"}},
      {"[5]",
       {"3: output: no step makes the tensor 'OUT'. Known: IN.",
        "7: ensemble_scheduling.step[0]: expected a mapping, got '5'"}},
      {"[]",
       {"3: output: no step makes the tensor 'OUT'. Known: IN.",
        "7: ensemble_scheduling.step: is empty; write step [ { model_name: \"resize\" … } ]"}},
  };
  for (const auto& [step, errors] : cases) EXPECT_EQ(read_known(ensemble(step)).errors, errors) << step;
}

TEST(Triton, RefusesBrokenMaps) {
  const auto errors = [](const std::string& inputs, const std::string& outputs) {
    return read_known(ensemble("{ model_name: \"m\"\n" + inputs + "\n" + outputs + " }")).errors;
  };
  const std::string in = R"(input_map { key: "x" value: "IN" })", out = R"(output_map { key: "y" value: "OUT" })";
  const std::string path = "ensemble_scheduling.step.";
  EXPECT_EQ(errors(in + R"( input_map { key: "x" value: "IN" })", out),
            Texts{"8: " + path + "input_map[1].key: 'x' is mapped twice in this step"});
  EXPECT_EQ(errors(in, out + R"( output_map { key: "y" value: "OTHER" })"),
            Texts{"9: " + path + "output_map[1].key: 'y' is mapped twice in this step"});
  EXPECT_EQ(errors(R"(input_map { key: "x" })", out),
            Texts{"8: " + path +
                  "input_map: the field 'value' is missing; write value: \"the ensemble's name of the tensor\""});
  EXPECT_EQ(
      errors(in, R"(output_map { value: "OUT" })"),  // the output counts as made
      Texts{"9: " + path + "output_map: the field 'key' is missing; write key: \"the model's name of the tensor\""});
  EXPECT_EQ(errors(R"(input_map { key: "x" valeu: "IN" })", out),
            (Texts{"8: " + path +
                       "input_map: the field 'value' is missing; write value: \"the ensemble's name of the tensor\"",
                   "8: " + path + "input_map: unknown field 'valeu'. Did you mean 'value'?"}));
  EXPECT_EQ(
      errors(R"(input_map { key: "a\nb" value: "IN" })", out),
      Texts{"8: " + path +
            "input_map.key: 'a\\x0ab' is not a tensor's name: at most 128 characters, and no line breaks or tabs"});
}

TEST(Triton, RefusesTensorsNobodyMakes) {
  const auto read_steps = [](const std::string& first_input, const std::string& second_input) {
    return read_known(ensemble(str("{ model_name: \"m\" input_map { key: \"x\" value: \"", first_input,
                                   "\" } output_map { key: \"FEATURES\" value: \"features\" } }\n",
                                   "step { model_name: \"m\" input_map { key: \"x\" value: \"", second_input,
                                   "\" } output_map { key: \"y\" value: \"OUT\" } }")))
        .errors;
  };
  EXPECT_EQ(read_steps("IN", "features"), Texts{});
  EXPECT_EQ(read_steps("IN", "featuers"), Texts{"8: ensemble_scheduling.step[1].input_map: the tensor 'featuers' is "
                                                "neither an input of the ensemble nor made by a "
                                                "step. Did you mean 'features'?"});
  EXPECT_EQ(read_steps("IN", "FEATURES"),
            Texts{"8: ensemble_scheduling.step[1].input_map: the tensor 'FEATURES' is neither an input of the ensemble "
                  "nor made by a "
                  "step. It is a model's name of an output; the ensemble calls that tensor 'features'."});
  EXPECT_EQ(read_steps("image", "boxes").size(), 2u);
}

TEST(Triton, RefusesTensorsMadeTwice) {
  const std::string error = "; every tensor needs a name of its own";
  EXPECT_EQ(
      read_known(ensemble("[" + kStep + ",\n" + kStep + "]")).errors,
      Texts{"8: ensemble_scheduling.step[1].output_map: the tensor 'OUT' is already made by the step 'm' (line 7)" +
            error});
  EXPECT_EQ(
      read_known(ensemble(R"({ model_name: "m" input_map { key: "x" value: "IN" }
                                     output_map [ { key: "y" value: "OUT" }, { key: "z" value: "IN" } ] })"))
          .errors,
      Texts{"8: ensemble_scheduling.step.output_map: the tensor 'IN' is already an input of the ensemble (line 2)" +
            error});
}

TEST(Triton, RefusesOutputsNobodyMakes) {
  const std::string more =
      R"(output [ { name: "OTU" data_type: TYPE_FP32 dims: 4 }, { name: "IN" data_type: TYPE_FP32 dims: 4 } ])";
  EXPECT_EQ(read_known(ensemble(kStep, more)).errors,
            (Texts{"5: output: no step makes the tensor 'OTU'. Did you mean 'OUT'?",
                   "5: output: the tensor 'IN' is an input of the ensemble; no step makes it"}));
}

TEST(Triton, RefusesBrokenTensors) {
  const Fault cases[] = {
      {R"(input { data_type: TYPE_FP32 dims: 4 })",
       {"5: input[1]: the field 'name' is missing; write name: \"image\""}},
      {R"(input { name: "A" dims: 4 })", {"5: input[1]: the field 'data_type' is missing; write data_type: TYPE_FP32"}},
      {R"(input { name: "A" data_type: TYPE_FP23 dims: 4 })",
       {"5: input[1].data_type: 'TYPE_FP23' is not known. Did you mean 'TYPE_FP32'?"}},
      {R"(input { name: "A" data_type: TYPE_FP32 })",
       {"5: input[1]: the field 'dims' is missing; write dims: [3, 224, 224], where -1 stands for any length"}},
      {R"(input { name: "A" data_type: TYPE_FP32 dims: [] })",
       {"5: input[1].dims: is empty; write dims: [3, 224, 224], where -1 stands for any length"}},
      {R"(input { name: "A" data_type: TYPE_FP32 dims: [ 3, 0 ] })",
       {"5: input[1].dims[1]: is 0; a dimension is 1 or more, or -1 for any length"}},
      {R"(input { name: "A" data_type: TYPE_FP32 dims: -2 })",
       {"5: input[1].dims: is -2; a dimension is 1 or more, or -1 for any length"}},
      {R"(input { name: "A" data_type: TYPE_FP32 dims: 1.5 })", {"5: input[1].dims: '1.5' is not a whole number"}},
      {R"(input { name: "A" data_type: TYPE_FP32 dims: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1] })",
       {"5: input[1].dims[16]: is one of 17 dimensions; at most 16 are possible"}},
      {R"(input { name: "A" data_type: TYPE_FP32 dims: 4 reshape { shape: [] } })",
       {"5: input[1].reshape: is not supported: a tensor keeps its shape on its way"}},
      {R"(input { name: "A" data_type: TYPE_FP32 dims: 4 optional: maybe })",
       {"5: input[1].optional: 'maybe' is neither true nor false"}},
      {R"(input { name: "A" data_type: TYPE_FP32 dims: 4 label_filename: "x" })",
       {"5: input[1]: unknown field 'label_filename'."}},
      {R"(input { name: "IN" data_type: TYPE_FP32 dims: 4 })", {"5: input[1]: the tensor 'IN' is declared twice"}},
      {R"(output { name: "OUT" data_type: TYPE_FP32 dims: 4 })", {"5: output[1]: the tensor 'OUT' is declared twice"}},
      {R"(output { name: "A" name: "B" data_type: TYPE_FP32 dims: 4 })",
       {"5: output[1].name: is given more than once"}},
      {str("input { name: \"", std::string(129, 'x'), "\" data_type: TYPE_FP32 dims: 4 }"),
       {str("5: input[1].name: '", std::string(60, 'x'),
            "…' is not a tensor's name: at most 128 characters, and no line breaks or tabs")}},
  };
  for (const auto& [rest, errors] : cases) {
    const auto outcome = read_known(ensemble(kStep, rest));
    ASSERT_EQ(outcome.errors.size(), 1u) << rest;
    EXPECT_TRUE(outcome.errors[0].starts_with(errors[0])) << outcome.errors[0] << "\ninstead of\n" << errors[0];
  }
}

TEST(Triton, RefusesOtherFaultsOfTheDocument) {
  const Fault cases[] = {
      {"name: \"two\"", {"5: name: is given more than once"}},
      {"max_batch_size: -1", {"5: max_batch_size: is -1, must be from 0 to 2147483647"}},
      {"model_transaction_policy { decoupled: true }",
       {"5: model_transaction_policy.decoupled: is not supported: every request gets exactly one answer"}},
      {"dynamic_batchign { }", {"5: unknown field 'dynamic_batchign'. Did you mean 'dynamic_batching'?"}},
      {"ensemble_scheduling { }",
       {"3: output: no step makes the tensor 'OUT'. Known: IN.", "6: ensemble_scheduling: is given more than once"}},
  };
  for (const auto& [rest, errors] : cases) EXPECT_EQ(read_known(ensemble(kStep, rest)).errors, errors) << rest;
}

TEST(Triton, CollectsAllErrors) {
  const auto outcome = read("platform: \"ensemble\"\nname: \"a/b\"\nplatfrom: \"x\"");
  EXPECT_EQ(outcome.errors,
            (Texts{kNoObjective, "1: the field 'input' is missing; write input [ { name: \"image\" … } ]",
                   "1: the field 'output' is missing; write output [ { name: \"label\" … } ]",
                   "1: the field 'ensemble_scheduling' is missing; write ensemble_scheduling { step [ … ] }",
                   "2: name: 'a/b' is not a name: letters, digits, '-', '_' and blanks inside, at most 128 characters",
                   "3: unknown field 'platfrom'. Did you mean 'platform'?"}));
}

TEST(Triton, NeedsANameFromSomewhere) {
  Diagnostics out;
  const auto node = read_pbtxt("platform: \"ensemble\"", "f", out);
  EXPECT_FALSE(read_triton(*node, {.file = "f", .name = "my.model"}, out));
  const auto list = out.sorted();
  EXPECT_TRUE(std::any_of(list.begin(), list.end(), [](const Diagnostic& d) {
    return d.message ==
           "the field 'name' is missing, and 'my.model' cannot stand in for it; write name: \"my-application\"";
  }));
}

TEST(Triton, RefusesStageNamesThatGrowTooLong) {
  const std::string model(limits::name_length_max, 'm');
  const auto outcome = read(ensemble(str(
      "{ model_name: \"", model, "\" input_map { key: \"x\" value: \"IN\" } output_map { key: \"y\" value: \"a\" } }\n",
      "step { model_name: \"", model,
      "\" input_map { key: \"x\" value: \"a\" } output_map { key: \"y\" value: \"OUT\" } }")));
  ASSERT_EQ(outcome.errors.size(), 1u);
  EXPECT_TRUE(outcome.errors[0].starts_with("8: ensemble_scheduling.step[1].model_name: the stage's name 'mmm"));
  EXPECT_TRUE(outcome.errors[0].ends_with("' is longer than 128 characters"));
}

TEST(Triton, RefusesTooManySteps) {
  std::string steps = "[";
  for (std::size_t i = 0; i <= limits::stages_max; ++i) steps += i == 0 ? "{}" : ",{}";
  const auto outcome = read_known(ensemble(steps + "]"));
  EXPECT_EQ(outcome.errors, (Texts{"3: output: no step makes the tensor 'OUT'. Known: IN.",
                                   "6: ensemble_scheduling: has 100001 steps, at most 100000 are possible"}));
}

TEST(Triton, ListsTheModelsOfAnEnsemble) {
  Diagnostics out;
  const auto models = [&](const std::string& text) { return triton_models(*read_pbtxt(text, "f", out)); };
  EXPECT_EQ(models(kJoin), (Texts{"classify", "resize", "segment"}));
  EXPECT_EQ(models(ensemble(kStep)), Texts{"m"});
  EXPECT_EQ(models("platform: \"ensemble\""), Texts{});
  EXPECT_EQ(models("platform: \"onnxruntime_onnx\" ensemble_scheduling { step { model_name: \"m\" } }"), Texts{});
  EXPECT_EQ(models("ensemble_scheduling { step [ { model_name: \"../etc\" }, 5, { model_name: [ \"a\" ] } ] }"),
            Texts{});
  EXPECT_FALSE(out.has_errors());
}

struct ModelOutcome {
  std::optional<FunctionDraft> function;
  Texts messages;
};
ModelOutcome read_model(std::string_view text) {
  Diagnostics out;
  ModelOutcome outcome;
  outcome.function = read_triton_model(*read_pbtxt(text, "f", out), {.file = "f", .name = "folder"}, out);
  for (const Diagnostic& d : out.sorted()) outcome.messages.push_back(to_string(d));
  return outcome;
}

TEST(TritonModel, DeclaresItsTensors) {
  const auto outcome = read_model(R"(platform: "onnxruntime_onnx" max_batch_size: 8 anything: 1
    input { name: "data" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] format: FORMAT_NCHW
            reshape { shape: [ 1, 3, 224, 224 ] } }
    output { name: "prob:0" data_type: TYPE_INT64 dims: [ 1000 ] label_filename: "labels.txt" })");
  ASSERT_TRUE(outcome.function);
  const Function& function = outcome.function->function;
  EXPECT_EQ(function.name, "folder");
  EXPECT_EQ(function.cpu, Body{.runtime = Runtime::emulated});
  EXPECT_EQ(function.gpu, Body{.runtime = Runtime::emulated});
  EXPECT_EQ(function.inputs, (std::vector<Port>{{.name = "data", .type = DataType::fp32, .shape = {3, 224, 224}}}));
  EXPECT_EQ(function.outputs, (std::vector<Port>{{.name = "prob:0", .type = DataType::int64, .shape = {1000}}}));
  EXPECT_FALSE(outcome.function->listed_here);
  EXPECT_EQ(outcome.messages,
            Texts{"f:1:1: warning: the model 'folder' is emulated: Sluice runs no Triton backends. To run it, "
                  "describe it in functions.yaml"});
}

TEST(TritonModel, DeclaresNoInputsIfSomeAreOptional) {
  const auto outcome = read_model(R"(name: "llm" backend: "tensorrtllm" max_batch_size: 4
    input [ { name: "ids" data_type: TYPE_INT32 dims: -1 },
            { name: "seed" data_type: TYPE_INT32 dims: 1 optional: true } ]
    output { name: "tokens" data_type: TYPE_INT32 dims: -1 })");
  ASSERT_TRUE(outcome.function);
  EXPECT_EQ(outcome.function->function.name, "llm");
  EXPECT_TRUE(outcome.function->function.inputs.empty());
  EXPECT_EQ(outcome.function->function.outputs.size(), 1u);
}

TEST(TritonModel, DeclaresNothingIfItsShapesMayHoldABatchDimension) {
  const auto outcome = read_model(R"(name: "m" backend: "python" max_batch_size: 0
    input { name: "x" data_type: TYPE_FP32 dims: [ -1, 3 ] }
    output { name: "y" data_type: TYPE_FP32 dims: [ -1, 3 ] })");
  ASSERT_TRUE(outcome.function);
  EXPECT_TRUE(outcome.function->function.inputs.empty());
  EXPECT_TRUE(outcome.function->function.outputs.empty());
}

TEST(TritonModel, RefusesEnsemblesAndFaults) {
  EXPECT_EQ(read_model("platform: \"ensemble\"").messages,
            Texts{"f:1:1: error: this model is an ensemble; a step of an ensemble cannot be one. Write its steps into "
                  "the outer ensemble"});
  const auto broken =
      read_model("name: \"a\" input { name: \"x\" } output { name: \"y\" data_type: TYPE_FP32 dims: 0 }");
  EXPECT_FALSE(broken.function);
  EXPECT_EQ(broken.messages.size(), 3u);
}

}  // namespace
}  // namespace sluice::spec
