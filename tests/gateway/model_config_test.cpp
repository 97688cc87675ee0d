// A model as Triton's ModelConfig: one scheduling choice, and the wiring of a workflow as maps of tensors.
#include "gateway/model_config.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "gateway/a_model.h"

namespace sluice::gateway {
namespace {

Function a_function(std::string name, std::vector<Port> inputs, std::vector<Port> outputs) {
  Function function;
  function.name = std::move(name);
  function.inputs = std::move(inputs);
  function.outputs = std::move(outputs);
  return function;
}

Stage a_stage(std::string name, std::uint32_t function, std::vector<StageId> after = {}) {
  Stage stage;
  stage.name = std::move(name);
  stage.function = FunctionId(function);
  stage.after = std::move(after);
  return stage;
}

live::Model model_of(Application application) {
  live::Model model =
      a_model(application.name, {port("image", DataType::fp32, {3, -1})}, {port("label", DataType::bytes, {1})});
  model.application = std::make_shared<const Application>(std::move(application));
  model.batch_max = 8;
  return model;
}

Application seeing() {
  Application application;
  application.name = "see";
  application.objective = {.latency = Duration::ms(200), .percentile = 95, .cost = {}};
  const Port pixels = port("x", DataType::fp32, {3, -1}), text = port("label", DataType::bytes, {1});
  application.functions = {a_function("label", {pixels}, {text}),
                           a_function("shrink", {port("image", DataType::fp32, {3, -1})}, {pixels})};
  application.workflow.stages = {a_stage("small", 1), a_stage("name", 0, {StageId(0)})};
  return application;
}

constexpr std::string_view kHead =
    R"({"name":"see","platform":"ensemble","version_policy":{"latest":{"num_versions":1}},"max_batch_size":128,)"
    R"("input":[{"name":"image","data_type":"TYPE_FP32","dims":[3,-1]}],)"
    R"("output":[{"name":"label","data_type":"TYPE_STRING","dims":[1]}],)";
constexpr std::string_view kParameters =
    R"("parameters":{"batch_max":{"string_value":"8"},"slo_ms":{"string_value":"200"},)"
    R"("slo_percentile":{"string_value":"95"}}})";

TEST(ModelConfig, AnApplicationIsAnEnsemble) {
  EXPECT_EQ(
      model_config(model_of(seeing())),
      std::string(kHead) +
          R"("ensemble_scheduling":{"step":[)"
          R"({"model_name":"see.shrink","model_version":-1,"input_map":{"image":"image"},"output_map":{"x":"small.x"}},)"
          R"({"model_name":"see.label","model_version":-1,"input_map":{"x":"small.x"},"output_map":{"label":"label"}}]},)" +
          std::string(kParameters));
}

TEST(ModelConfig, TensorsThatLeaveHaveTheNamesOfTheWhole) {
  Application application = seeing();
  application.outputs = {{.name = "what", .from = {StageId(1), "label"}}, {.name = "how", .from = {StageId(0), "x"}}};
  const std::string config = model_config(model_of(std::move(application)));
  EXPECT_NE(config.find(R"("output_map":{"x":"how"})"), std::string::npos) << config;
  EXPECT_NE(config.find(R"("input_map":{"x":"how"},"output_map":{"label":"what"})"), std::string::npos) << config;
}

// Where functions declare nothing, what stages say they read is known, and nothing else.
TEST(ModelConfig, WiringThatIsNotDeclaredIsTakenFromThoseWhoRead) {
  Application application = seeing();
  for (Function& function : application.functions) function.inputs = function.outputs = {};
  application.workflow.stages[1].inputs = {{.input = "pixels", .from = {StageId(0), "out"}}};
  const std::string config = model_config(model_of(std::move(application)));
  EXPECT_NE(config.find(R"("input_map":{},"output_map":{"out":"small.out"})"), std::string::npos) << config;
  EXPECT_NE(config.find(R"("input_map":{"pixels":"small.out"},"output_map":{})"), std::string::npos) << config;
}

TEST(ModelConfig, StepsInsideOfAForeachAreListed) {
  Application application = seeing();
  Workflow body;
  body.stages = {a_stage("inner", 0)};
  application.workflow.stages[1].foreach = Foreach{.over = {StageId(0), "x"}, .limit = 0, .body = {body}};
  const std::string config = model_config(model_of(std::move(application)));
  EXPECT_NE(config.find(R"({"model_name":"see.label","model_version":-1)"), std::string::npos) << config;
  EXPECT_NE(config.find(R"("output_map":{"label":"name/inner.label"})"), std::string::npos) << config;
}

TEST(ModelConfig, AFunctionIsBatchedDynamically) {
  live::Model model = a_model("see.label", {port("x", DataType::bf16, {2})});
  model.is_function = true;
  model.batch_max = 4;
  EXPECT_EQ(model_config(model),
            R"({"name":"see.label","platform":"sluice_function","backend":"sluice",)"
            R"("version_policy":{"latest":{"num_versions":1}},"max_batch_size":128,)"
            R"("input":[{"name":"x","data_type":"TYPE_BF16","dims":[2]}],"output":[],"dynamic_batching":{},)"
            R"("parameters":{"batch_max":{"string_value":"4"}}})");
}

}  // namespace
}  // namespace sluice::gateway
