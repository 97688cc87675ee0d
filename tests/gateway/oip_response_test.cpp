#include "gateway/oip_response.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gateway/a_model.h"
#include "gateway/base64.h"

namespace sluice::gateway {
namespace {

class OipResponse : public testing::Test {
 protected:
  data::Tensor tensor(std::string name, DataType type, std::vector<std::int64_t> shape, std::string_view bytes) {
    return a_tensor(*arena_, std::move(name), type, std::move(shape), bytes);
  }
  // The "data" of one tensor.
  std::string values(DataType type, std::string_view bytes, std::int64_t count = 1) {
    const auto response = write_infer_response({"m", 1}, {}, {tensor("a", type, {count}, bytes)});
    if (!response) return response.error().message;
    const std::size_t at = response->body.find("\"data\":") + 7;
    return response->body.substr(at, response->body.size() - at - 3);
  }
  std::shared_ptr<data::Arena> arena_ = an_arena();
};

TEST_F(OipResponse, WritesJsonInTheOrderOfTriton) {
  const ResponseForm form{.id = "42", .rows = 1};
  const auto response = write_infer_response({"m", 3}, form, {tensor("a", DataType::fp32, {2}, raw<float>({1, 0.5}))});
  EXPECT_EQ(
      response->body,
      R"({"id":"42","model_name":"m","model_version":"3","outputs":[{"name":"a","datatype":"FP32","shape":[1,2],"data":[1.0,0.5]}]})");
  EXPECT_EQ(response->json_bytes, std::nullopt);
}

TEST_F(OipResponse, WritesBytesAfterTheJson) {
  const ResponseForm form{.binary = true, .outputs = {{"b", {}}, {"a", false}}};
  const auto response =
      write_infer_response({"m", 1}, form,
                           {tensor("a", DataType::int8, {2}, raw<std::int8_t>({-1, 2})),
                            tensor("b", DataType::fp16, {2}, "wxyz"), tensor("c", DataType::fp16, {2}, "wxyz")});
  ASSERT_TRUE(response);
  const std::string json =
      R"({"model_name":"m","model_version":"1","outputs":[{"name":"b","datatype":"FP16","shape":[2],"parameters":{"binary_data_size":4}},)"
      R"({"name":"a","datatype":"INT8","shape":[2],"data":[-1,2]}]})";
  EXPECT_EQ(response->body, json + "wxyz");
  EXPECT_EQ(response->json_bytes, json.size());
}

TEST_F(OipResponse, StacksTheRowsOfOneRequest) {
  const auto row = [&](std::int8_t number, std::string text) {
    return data::Tensors{tensor("n", DataType::int8, {2}, raw<std::int8_t>({number, 0})),
                         tensor("t", DataType::bytes, {1}, raw_text({std::move(text)})),
                         tensor("none", DataType::int8, {0}, "")};
  };
  const std::vector<data::Tensors> further = {row(2, "bb"), row(3, "")};
  const ResponseForm form{.rows = 3, .outputs = {{"n", {}}, {"t", {}}, {"none", {}}, {"t", true}, {"n", true}}};
  const auto response = write_infer_response({"m", 1}, form, row(1, "a"), further);
  ASSERT_TRUE(response) << response.error().message;
  const std::string json =
      R"({"model_name":"m","model_version":"1","outputs":[{"name":"n","datatype":"INT8","shape":[3,2],"data":[1,0,2,0,3,0]},)"
      R"({"name":"t","datatype":"BYTES","shape":[3,1],"data":["a","bb",""]},)"
      R"({"name":"none","datatype":"INT8","shape":[3,0],"data":[]},)"
      R"({"name":"t","datatype":"BYTES","shape":[3,1],"parameters":{"binary_data_size":15}},)"
      R"({"name":"n","datatype":"INT8","shape":[3,2],"parameters":{"binary_data_size":6}}]})";
  EXPECT_EQ(response->body, json + raw_text({"a", "bb", ""}) + raw<std::int8_t>({1, 0, 2, 0, 3, 0}));
}

TEST_F(OipResponse, SaysWhichRowsCannotBeStacked) {
  const auto row = [&](std::int64_t length) {
    const std::string bytes(static_cast<std::size_t>(length), 'x');
    return data::Tensors{tensor("a", DataType::int8, {1}, "x"), tensor("b", DataType::uint8, {length}, bytes)};
  };
  const std::vector<data::Tensors> longer = {row(2), row(3)}, missing = {{tensor("a", DataType::int8, {1}, "x")}};
  EXPECT_EQ(write_infer_response({"m", 1}, {.rows = 3}, row(2), longer).error().message,
            "the rows of output 'b' cannot be stacked: row 0 is UINT8 [2], row 2 is UINT8 [3]. Please send these rows "
            "one by one.");
  EXPECT_EQ(write_infer_response({"m", 1}, {.rows = 2}, row(2), missing).error().message,
            "the rows of output 'b' cannot be stacked: row 0 is UINT8 [2], row 1 has none. Please send these rows one "
            "by one.");
  const ResponseForm one_output{.rows = 3, .outputs = {{"a", {}}}};
  EXPECT_TRUE(write_infer_response({"m", 1}, one_output, row(2), longer))
      << "what nobody asked for need not be stacked";
}

TEST_F(OipResponse, WritesEveryDatatype) {
  EXPECT_EQ(values(DataType::boolean, std::string_view("\1\0", 2)), "[true,false]");
  EXPECT_EQ(values(DataType::uint8, "\xFF"), "[255]");
  EXPECT_EQ(values(DataType::uint64, raw<std::uint64_t>({~0ull})), "[18446744073709551615]");
  EXPECT_EQ(values(DataType::int64, raw<std::int64_t>({-1})), "[-1]");
  EXPECT_EQ(values(DataType::fp32, raw<float>({1.1f, NAN, INFINITY, 1e20f})), "[1.1,null,null,1e+20]");
  EXPECT_EQ(values(DataType::fp64, raw<double>({0.1, -0.0})), "[0.1,-0.0]");
  EXPECT_EQ(values(DataType::bytes, raw_text({"a\"\\\n\x01", "\xC3\xA9", "\xFF"}), 3),
            "[\"a\\\"\\\\\\n\\u0001\",\"\xC3\xA9\",\"\xEF\xBF\xBD\"]");
  EXPECT_EQ(values(DataType::fp16, "ab"),
            "sending FP16 data via JSON is not supported. Please use the binary data format for output a");
}

TEST_F(OipResponse, RefusesAnOutputThatIsNotThere) {
  const ResponseForm form{.outputs = {{"b", {}}}};
  EXPECT_EQ(write_infer_response({"m", 1}, form, {}).error().message, "unexpected inference output 'b' for model 'm'");
}

TEST_F(OipResponse, StoredResultsHaveBase64WhereThereIsNoJsonForm) {
  EXPECT_EQ(
      write_stored_result({"m", 1}, "",
                          {tensor("h", DataType::bf16, {1}, "ab"), tensor("i", DataType::int8, {1}, "\1")}),
      R"({"model_name":"m","model_version":"1","outputs":[{"name":"h","datatype":"BF16","shape":[1],"base64":"YWI="},)"
      R"({"name":"i","datatype":"INT8","shape":[1],"data":[1]}]})");
}

TEST(Base64, SurvivesARoundTrip) {
  for (const std::string bytes : {"", "a", "ab", "abc", "abcd"}) EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  EXPECT_EQ(to_base64("\xFF\xFE\xFD"), "//79");
  for (const std::string_view bad : {"a", "ab=a", "====", "a b=", "ab\n=", "a==="})
    EXPECT_EQ(from_base64(bad), std::nullopt) << bad;
}

}  // namespace
}  // namespace sluice::gateway
