#include "gateway/oip_request.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "gateway/a_model.h"
#include "gateway/oip_input.h"

namespace sluice::gateway {
namespace {

const live::Model kAdder = a_model("adder", {port("X", DataType::int32, {2}), port("Y", DataType::int32, {2})},
                                   {port("S", DataType::int32, {2})});
const live::Model kImage = a_model("image", {port("I", DataType::fp32, {3, -1, -1})});
const live::Model kOpen = a_model("open", {});

class OipRequest : public testing::Test {
 protected:
  Result<InferRequest> read(const live::Model& model, std::string_view json, std::string_view raw = {}) {
    const Padded body(std::string(json) + std::string(raw));
    const std::string length = std::to_string(json.size());
    return read_infer_request(
        {.bytes = body.view(), .json_bytes = raw.empty() ? std::nullopt : std::optional<std::string_view>(length)},
        model, arena_.get());
  }
  std::string refusal(const live::Model& model, std::string_view json, std::string_view raw = {}) {
    const auto request = read(model, json, raw);
    return request ? "accepted" : request.error().message;
  }
  // The bytes of the only input, which has this type and data.
  std::string value(std::string_view type, std::string_view data, std::string_view shape = "[2]") {
    const auto request =
        read(kOpen, std::string(R"({"inputs":[{"name":"a","shape":)") + std::string(shape) + R"(,"datatype":")" +
                        std::string(type) + R"(","data":)" + std::string(data) + "}]}");
    return request ? bytes_of(request->inputs->front()) : request.error().message;
  }
  std::shared_ptr<data::Arena> arena_ = an_arena();
};

constexpr std::string_view kBoth =
    R"({"id":"42","inputs":[{"name":"X","shape":[1,2],"datatype":"INT32","data":[1,-2]},)"
    R"({"name":"Y","shape":[1,2],"datatype":"INT32","data":[[3,4]]}]})";

TEST_F(OipRequest, TakesOneItemWithItsBatchDimensionAndAnswersAlike) {
  const auto request = read(kAdder, kBoth);
  ASSERT_TRUE(request) << request.error().message;
  ASSERT_EQ(request->inputs->size(), 2u);
  EXPECT_EQ(request->inputs->at(0).info, (data::TensorInfo{"X", DataType::int32, {2}}));
  EXPECT_EQ(bytes_of(request->inputs->at(0)), raw<std::int32_t>({1, -2}));
  EXPECT_EQ(bytes_of(request->inputs->at(1)), raw<std::int32_t>({3, 4}));
  EXPECT_EQ(request->form.rows, 1u);
  EXPECT_FALSE(request->form.binary);
  EXPECT_EQ(request->form.id, "42");
}

TEST_F(OipRequest, TakesSeveralRowsAsOneStackedTensor) {
  const auto json = read(kAdder, R"({"inputs":[{"name":"X","shape":[3,2],"datatype":"INT32","data":[1,2,3,4,5,6]},)"
                                 R"({"name":"Y","shape":[3,2],"datatype":"INT32","data":[[7,8],[9,10],[11,12]]}]})");
  ASSERT_TRUE(json) << json.error().message;
  EXPECT_EQ(json->form.rows, 3u);
  EXPECT_EQ(json->inputs->at(1).info, (data::TensorInfo{"Y", DataType::int32, {3, 2}}));
  EXPECT_EQ(bytes_of(json->inputs->at(1)), raw<std::int32_t>({7, 8, 9, 10, 11, 12}));
  const live::Model text = a_model("text", {port("T", DataType::bytes, {1})});
  const std::string bytes = raw_text({"a", "bcd"});
  const auto binary = read(text,
                           R"({"inputs":[{"name":"T","shape":[2,1],"datatype":"BYTES",)"
                           R"("parameters":{"binary_data_size":)" +
                               std::to_string(bytes.size()) + "}}]}",
                           bytes);
  ASSERT_TRUE(binary) << binary.error().message;
  EXPECT_EQ(binary->form.rows, 2u);
  EXPECT_EQ(bytes_of(binary->inputs->front()), bytes);
}

TEST_F(OipRequest, TakesOneItemWithoutBatchDimension) {
  const auto request =
      read(kImage, R"({"inputs":[{"name":"I","shape":[3,1,1],"datatype":"FP32","data":[1,2.5,-3e2]}]})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(bytes_of(request->inputs->front()), raw<float>({1, 2.5, -300}));
  EXPECT_EQ(request->form.rows, 0u);
}

TEST_F(OipRequest, TakesUndeclaredInputsAsTheyAre) {
  const auto request =
      read(kOpen, R"({"inputs":[{"name":"any","shape":[3,1],"datatype":"UINT8","data":[0,128,255]}]})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->inputs->front().info.shape, (std::vector<std::int64_t>{3, 1}));
  EXPECT_EQ(request->form.rows, 0u);
}

TEST_F(OipRequest, TakesALeadingOneOfUndeclaredInputsAsTheBatchDimensionIfAllHaveIt) {
  const auto shapes = [&](const live::Model& model, std::string_view first, std::string_view second) {
    const auto input = [](std::string_view name, std::string_view shape) {
      return str(R"({"name":")", name, R"(","shape":)", shape, R"(,"datatype":"UINT8","data":[1,2]})");
    };
    const auto one = [&](std::string_view name, std::string_view shape) {
      return str(R"({"name":")", name, R"(","shape":)", shape, R"(,"datatype":"UINT8","data":[1]})");
    };
    const auto request = read(model, str(R"({"inputs":[)", input("a", first), ",",
                                         second == "[1]" ? one("b", second) : input("b", second), "]}"));
    if (!request) return request.error().message;
    return str(shape_text(request->inputs->at(0).info.shape), shape_text(request->inputs->at(1).info.shape),
               request->form.rows == 1 ? " batched" : "");
  };
  EXPECT_EQ(shapes(kOpen, "[1,2]", "[1,2,1]"), "[2][2,1] batched");
  EXPECT_EQ(shapes(kOpen, "[1,2]", "[1]"), "[2][1] batched");
  EXPECT_EQ(shapes(kOpen, "[1,2]", "[2]"), "[1,2][2]");
  EXPECT_EQ(shapes(kOpen, "[2]", "[1]"), "[2][1]");
  live::Model lists = kOpen;
  lists.lists = true;
  EXPECT_EQ(shapes(lists, "[1,2]", "[1,2,1]"), "[1,2][1,2,1]");
}

TEST_F(OipRequest, TakesDataThatComesBeforeItsDescription) {
  const auto request = read(kOpen, R"({"inputs":[{"data":[7,8],"datatype":"INT64","shape":[2],"name":"a"}],"id":"x"})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(bytes_of(request->inputs->front()), raw<std::int64_t>({7, 8}));
  EXPECT_EQ(request->form.id, "x");
}

TEST_F(OipRequest, ReadsEveryDatatype) {
  EXPECT_EQ(value("BOOL", "[true,0]"), std::string("\1\0", 2));
  EXPECT_EQ(value("UINT8", "[0,255]"), raw<std::uint8_t>({0, 255}));
  EXPECT_EQ(value("UINT16", "[0,65535]"), raw<std::uint16_t>({0, 65535}));
  EXPECT_EQ(value("UINT32", "[0,4294967295]"), raw<std::uint32_t>({0, 4294967295u}));
  EXPECT_EQ(value("UINT64", "[0,18446744073709551615]"), raw<std::uint64_t>({0, ~0ull}));
  EXPECT_EQ(value("INT8", "[-128,127]"), raw<std::int8_t>({-128, 127}));
  EXPECT_EQ(value("INT16", "[-32768,32767]"), raw<std::int16_t>({-32768, 32767}));
  EXPECT_EQ(value("INT32", "[-2147483648,1]"), raw<std::int32_t>({-2147483647 - 1, 1}));
  EXPECT_EQ(value("INT64", "[-9223372036854775808,1]"), raw<std::int64_t>({-9223372036854775807 - 1, 1}));
  EXPECT_EQ(value("FP32", "[1,0.1]"), raw<float>({1, 0.1f}));
  EXPECT_EQ(value("FP64", "[1,0.1]"), raw<double>({1, 0.1}));
  EXPECT_EQ(value("BYTES", R"(["a\u00e9","\"\\"])"), raw_text({"a\xC3\xA9", "\"\\"}));
  EXPECT_EQ(value("INT8", "[]", "[0,4]"), "");
  EXPECT_EQ(value("INT8", "[5]", "[]"), raw<std::int8_t>({5}));
}

TEST_F(OipRequest, RefusesNumbersOutsideOfTheDatatype) {
  EXPECT_EQ(value("UINT8", "[1,256]"), "input 'a' has 256 as element 1, which is no UINT8");
  EXPECT_EQ(value("UINT8", "[-1,2]"), "input 'a' has -1 as element 0, which is no UINT8");
  EXPECT_EQ(value("INT32", "[1.5,2]"), "input 'a' has 1.5 as element 0, which is no INT32");
  EXPECT_EQ(value("INT64", "[9223372036854775808,2]"),
            "input 'a' has 9223372036854775808 as element 0, which is no INT64");
  EXPECT_EQ(value("FP32", "[1e39,2]"), "input 'a' has 1e39 as element 0, which is no FP32");
  EXPECT_EQ(value("FP64", "[1e999,2]"), "input 'a' has 1e999 as element 0, which is no FP64");
  EXPECT_EQ(value("FP32", "[null,2]"), "input 'a' has null as element 0, which is no FP32");
  EXPECT_EQ(value("BOOL", "[2,true]"), "input 'a' has 2 as element 0, which is no BOOL");
  EXPECT_EQ(value("BYTES", "[1,\"\"]"), "input 'a' has 1 as element 0, which is no BYTES");
  EXPECT_EQ(value("FP32", "[{},2]"), "input 'a' has { as element 0, which is no FP32");
}

TEST_F(OipRequest, RefusesTypesWithoutJsonForm) {
  EXPECT_EQ(value("FP16", "[1,2]"),
            "receiving FP16 data via JSON is not supported. Please use the binary data format for input a");
  EXPECT_EQ(value("BF16", "[1,2]"),
            "receiving BF16 data via JSON is not supported. Please use the binary data format for input a");
  EXPECT_EQ(value("FP8", "[1,2]"), "Unable to parse 'datatype': there is no type 'FP8'");
}

TEST_F(OipRequest, CountsElements) {
  const std::string wrong = "Unable to parse 'data': Shape does not match true shape of 'data' field: input 'a' has ";
  EXPECT_EQ(value("INT32", "[1]"), wrong + "1 elements, its shape [2] has 2");
  EXPECT_EQ(value("INT32", "[1,2,3]"), wrong + "more than 2 elements, its shape [2] has 2");
  EXPECT_EQ(value("INT32", "[1]", "[1000]"), wrong + "1 elements, its shape [1000] has 1000");
  EXPECT_EQ(value("INT32", "[1]", "[17000000]"),
            "JSON input 'a' has a byte_size (68000000 bytes) that exceeds the maximum allowed value of 67108864 bytes. "
            "Please use the binary data format for it.");
  EXPECT_EQ(value("INT32", "[1]", "[4294967296,4294967296]"),
            "input 'a' has a shape too large: [4294967296,4294967296]");
  EXPECT_EQ(value("BYTES", R"(["a"])"), wrong + "1 elements, its shape [2] has 2");
}

TEST_F(OipRequest, ChecksInputsAgainstTheModel) {
  const auto input = [](std::string_view name, std::string_view shape, std::string_view type) {
    return std::string(R"({"id":"7","inputs":[{"name":")") + std::string(name) + R"(","shape":)" + std::string(shape) +
           R"(,"datatype":")" + std::string(type) + R"(","data":[1,2]}]})";
  };
  EXPECT_EQ(refusal(kAdder, input("Z", "[2]", "INT32")), "unexpected inference input 'Z' for model 'adder'");
  EXPECT_EQ(refusal(kAdder, input("X", "[2]", "FP32")),
            "[request id: 7] inference input 'X' data-type is 'FP32', but model 'adder' expects 'INT32'");
  EXPECT_EQ(refusal(kAdder, input("X", "[1,8]", "INT32")),
            "[request id: 7] unexpected shape for input 'X' for model 'adder'. Expected [-1,2], got [1,8].");
  EXPECT_EQ(refusal(kAdder, input("X", "[0,2]", "INT32")),
            "[request id: 7] unexpected shape for input 'X' for model 'adder'. Expected [-1,2], got [0,2].");
  EXPECT_EQ(refusal(kAdder, input("X", "[129,2]", "INT32")),
            "[request id: 7] inference request batch-size must be <= 128 for 'adder'");
  EXPECT_EQ(refusal(kAdder, input("X", "[2]", "INT32")),
            "[request id: 7] expected 2 inputs but got 1 inputs for model 'adder'. Got input(s) ['X'], but missing "
            "required input(s) ['Y']. Please provide all required input(s).");
  EXPECT_EQ(
      refusal(kAdder, R"({"inputs":[]})"),
      "[request id: <id_unknown>] expected 2 inputs but got 0 inputs for model 'adder'. Got input(s) [], but missing "
      "required input(s) ['X','Y']. Please provide all required input(s).");
  EXPECT_EQ(refusal(kAdder, R"({"inputs":[{"name":"X","shape":[2],"datatype":"INT32","data":[1,2]},)"
                            R"({"name":"Y","shape":[1,2],"datatype":"INT32","data":[1,2]}]})"),
            "[request id: <id_unknown>] input 'Y' batch size does not match other inputs for 'adder'");
  EXPECT_EQ(refusal(kAdder, R"({"inputs":[{"name":"X","shape":[2,2],"datatype":"INT32","data":[1,2,3,4]},)"
                            R"({"name":"Y","shape":[1,2],"datatype":"INT32","data":[1,2]}]})"),
            "[request id: <id_unknown>] input 'Y' batch size does not match other inputs for 'adder'");
  EXPECT_EQ(refusal(kAdder, R"({"inputs":[{"name":"X","shape":[2],"datatype":"INT32","data":[1,2]},)"
                            R"({"name":"X","shape":[2],"datatype":"INT32","data":[1,2]}]})"),
            "input 'X' already exists in request");
}

TEST_F(OipRequest, PutsTheIdInFrontEvenIfItComesLast) {
  EXPECT_EQ(refusal(kAdder, R"({"inputs":[{"name":"X","shape":[3],"datatype":"INT32","data":[1]}],"id":"last"})"),
            "[request id: last] unexpected shape for input 'X' for model 'adder'. Expected [-1,2], got [3].");
}

TEST_F(OipRequest, TakesBinaryTensorsInTheOrderOfTheJson) {
  const auto request =
      read(kAdder,
           R"({"inputs":[{"name":"X","shape":[1,2],"datatype":"INT32","parameters":{"binary_data_size":8}},)"
           R"({"parameters":{"binary_data_size":8},"name":"Y","shape":[1,2],"datatype":"INT32"}],)"
           R"("parameters":{"binary_data_output":true},"outputs":[{"name":"S","parameters":{"binary_data":false}}]})",
           raw<std::int32_t>({1, 2, 3, 4}));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(bytes_of(request->inputs->at(0)), raw<std::int32_t>({1, 2}));
  EXPECT_EQ(bytes_of(request->inputs->at(1)), raw<std::int32_t>({3, 4}));
  EXPECT_TRUE(request->form.binary);
  ASSERT_EQ(request->form.outputs.size(), 1u);
  EXPECT_EQ(request->form.outputs[0].binary, false);
}

TEST_F(OipRequest, ChecksSizesOfBinaryTensors) {
  const auto json = [](int bytes) {
    return R"({"inputs":[{"name":"a","shape":[2],"datatype":"FP16","parameters":{"binary_data_size":)" +
           std::to_string(bytes) + "}}]}";
  };
  EXPECT_EQ(refusal(kOpen, json(4), "abcd"), "accepted");
  EXPECT_EQ(refusal(kOpen, json(4), "a"),
            "unexpected size for input 'a', expecting 3 additional bytes for model 'open'");
  EXPECT_EQ(refusal(kOpen, json(4), "abcdef"), "unexpected additional input data for model 'open'");
  EXPECT_EQ(refusal(kOpen, json(2), "ab"),
            "[request id: <id_unknown>] input byte size mismatch for input 'a' for model 'open'. Expected 4, got 2");
}

TEST_F(OipRequest, WalksTheElementsOfBytes) {
  const auto json = [](std::size_t bytes) {
    return R"({"inputs":[{"name":"a","shape":[2],"datatype":"BYTES","parameters":{"binary_data_size":)" +
           std::to_string(bytes) + "}}]}";
  };
  const std::string good = raw_text({"one", ""});
  EXPECT_EQ(refusal(kOpen, json(good.size()), good), "accepted");
  for (const std::string& bad : {raw_text({"one"}), raw_text({"1", "2", "3"}), std::string("\xFF\xFF\xFF\xFFxx", 6)}) {
    EXPECT_EQ(
        refusal(kOpen, json(bad.size()), bad),
        "[request id: <id_unknown>] input 'a' for model 'open' does not hold exactly the 2 elements of its shape [2]");
  }
}

// Items of a list of texts are found by the index; without one each of them would be looked for behind all before it.
TEST_F(OipRequest, WalksTextsOnceWhenTheyCome) {
  const std::string head = R"({"inputs":[{"name":"a","shape":[2],"datatype":"BYTES",)", raw = raw_text({"one", ""});
  const auto as_json = read(kOpen, head + R"("data":["one",""]}]})");
  const auto as_bytes =
      read(kOpen, head + R"("parameters":{"binary_data_size":)" + std::to_string(raw.size()) + "}}]}", raw);
  for (const auto* request : {&as_json, &as_bytes}) {
    ASSERT_TRUE(request->ok()) << request->error().message;
    const data::Tensor& texts = request->value().inputs->front();
    EXPECT_EQ(bytes_of(texts), raw);
    EXPECT_TRUE(static_cast<bool>(texts.texts));
  }
}

TEST_F(OipRequest, ChecksTheLengthOfTheHeader) {
  const Padded body("{}12345678");
  const auto with = [&](std::string_view length) {
    return read_infer_request({.bytes = body.view(), .json_bytes = length}, kOpen, arena_.get()).error().message;
  };
  EXPECT_EQ(with("-1"), "inference header size should be in range (0, 10), got: -1");
  EXPECT_EQ(with("11"), "inference header size should be in range (0, 10), got: 11");
  EXPECT_EQ(with("abc"), "Unable to parse Inference-Header-Content-Length, got: abc");
}

TEST_F(OipRequest, TakesARawBodyAsTheOnlyInput) {
  const auto raw_request = [&](const live::Model& model, const std::string& bytes) {
    const Padded body(bytes);
    return read_infer_request({.bytes = body.view(), .json_bytes = "0"}, model, arena_.get());
  };
  const live::Model line = a_model("line", {port("L", DataType::int16, {-1, 2})});
  const auto request = raw_request(line, raw<std::int16_t>({1, 2, 3, 4}));
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->inputs->front().info.shape, (std::vector<std::int64_t>{2, 2}));
  EXPECT_TRUE(request->form.binary && request->form.rows == 1);
  const auto text = raw_request(a_model("text", {port("T", DataType::bytes, {1})}), "hello");
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(bytes_of(text->inputs->front()), raw_text({"hello"}));

  EXPECT_EQ(raw_request(line, "abc").error().message,
            "[request id: <id_unknown>] The shape of the raw input 'L' can not be deduced: 3 bytes do not fill the "
            "shape [-1,2]");
  EXPECT_EQ(raw_request(kImage, "abcd").error().message,
            "[request id: <id_unknown>] The shape of the raw input 'I' can not be deduced because there are more than "
            "one variable-sized dimension");
  EXPECT_EQ(raw_request(kAdder, "abcd").error().message,
            "[request id: <id_unknown>] Raw request must only have 1 input (found 1) to be deduced but got 2 inputs in "
            "'adder' "
            "model configuration");
  EXPECT_EQ(
      raw_request(a_model("t", {port("T", DataType::bytes, {2})}), "abcd").error().message,
      "[request id: <id_unknown>] For BYTE datatype raw input 'T', the model must have input shape [1], expected [2]");
  EXPECT_EQ(raw_request(a_model("f", {port("F", DataType::int8, {2})}), "abcd").error().message,
            "[request id: <id_unknown>] input byte size mismatch for input 'F' for model 'f'. Expected 2, got 4");
}

TEST_F(OipRequest, ReadsParameters) {
  const auto request = read(kOpen, R"({"inputs":[],"parameters":{"timeout":200000,"priority":300,"slo_ms":12.5,)"
                                   R"("sequence_id":"x","mine":[1]}})");
  ASSERT_TRUE(request) << request.error().message;
  EXPECT_EQ(request->timeout, Duration::ms(200));
  EXPECT_EQ(request->objective, Duration::ms(12.5));
  EXPECT_EQ(request->priority, 255);
  EXPECT_EQ(refusal(kOpen, R"({"inputs":[],"parameters":{"triton_x":1}})"),
            "parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.");
  EXPECT_EQ(refusal(kOpen, R"({"inputs":[],"parameters":{"slo_ms":0}})"),
            "Unable to parse 'slo_ms': expected a time above zero and below a year");
  EXPECT_EQ(refusal(kOpen, R"({"inputs":[],"parameters":{"timeout":-1}})"),
            "Unable to parse 'timeout': expected a whole number of microseconds");
  EXPECT_EQ(refusal(kOpen, R"({"inputs":[],"parameters":[]})"), "Unable to parse 'parameters': expected an object");
}

TEST_F(OipRequest, ChecksWantedOutputs) {
  EXPECT_EQ(refusal(kAdder, R"({"outputs":[{"name":"Q"}]})"), "unexpected inference output 'Q' for model 'adder'");
  EXPECT_EQ(refusal(kOpen, R"({"outputs":[{"name":"Q"},{"name":"Q"}],"inputs":[]})"), "output 'Q' already requested");
  EXPECT_EQ(refusal(kOpen, R"({"outputs":[{}],"inputs":[]})"),
            "Unable to parse 'name': expected a string in every output");
  EXPECT_EQ(refusal(kOpen, R"({"outputs":[{"name":"Q","parameters":{"classification":2}}],"inputs":[]})"),
            "the classification extension is not served");
}

TEST_F(OipRequest, RefusesWhatIsNoRequest) {
  EXPECT_EQ(refusal(kOpen, ""), "failed to parse the request JSON buffer: Empty: no JSON found");
  EXPECT_EQ(refusal(kOpen, "{}"), "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'");
  for (const std::string_view bad :
       {"[", "{\"inputs\":", "{\"inputs\":[]", "{\"inputs\":[]} x", "\xFF", "1", "{\"inputs\":[]}}"}) {
    EXPECT_EQ(refusal(kOpen, bad).substr(0, 41), "failed to parse the request JSON buffer: ") << bad;
  }
  EXPECT_EQ(refusal(kOpen, R"({"inputs":[{"name":"a","shape":[2],"datatype":"INT8"}]})"),
            "Input 'a' must set exactly one of 'data' and 'binary_data_size' in 'parameters'");
  EXPECT_EQ(refusal(kOpen, R"({"inputs":[{"name":"a","shape":[-1],"datatype":"INT8","data":[]}]})"),
            "Unable to parse 'shape': expected whole numbers from 0 on");
}

TEST_F(OipRequest, LimitsNesting) {
  const std::string open(200, '['), close(200, ']');
  EXPECT_EQ(value("INT8", open + "1" + close, "[1]"), "JSON nesting depth exceeds maximum allowed limit (100)");
  EXPECT_EQ(value("INT8", std::string(90, '[') + "1" + std::string(90, ']'), "[1]"), raw<std::int8_t>({1}));
  EXPECT_EQ(value("BYTES", "[\"" + open + "\"]", "[1]"), raw_text({open}));
}

TEST_F(OipRequest, SaysWhetherRoomWillEverBeThere) {
  const std::string json =
      R"({"inputs":[{"name":"a","shape":[4096],"datatype":"INT8","parameters":{"binary_data_size":4096}}]})";
  const std::string bytes(4096, 'x');
  arena_ = an_arena(4096);
  const auto first = read(kOpen, json, bytes);
  EXPECT_TRUE(first);
  EXPECT_EQ(read(kOpen, json, bytes).error(),
            (Error{ErrorCode::unavailable, "no room for input 'a' of 4096 bytes now"}));
  const std::string larger =
      R"({"inputs":[{"name":"a","shape":[1000000],"datatype":"INT8","parameters":{"binary_data_size":1000000}}]})";
  EXPECT_EQ(read(kOpen, larger, std::string(1000000, 'x')).error().code, ErrorCode::too_large);
}

}  // namespace
}  // namespace sluice::gateway
