#include "engine/tensor_json.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "engine/memory.h"

namespace sluice::engine {
namespace {

template <class T>
std::string raw(std::initializer_list<T> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(T)};
}

std::string json_of(DataType type, std::vector<std::int64_t> shape, std::string bytes) {
  std::string out;
  const auto appended = append_tensor(out, {{"x", type, std::move(shape)}, std::as_writable_bytes(std::span(bytes))});
  return appended ? out : appended.error().message;
}

TEST(TensorToJson, IsAValueWhereThereIsOneElement) {
  EXPECT_EQ(json_of(DataType::fp32, {}, raw<float>({0.1f})), "0.1");
  EXPECT_EQ(json_of(DataType::fp64, {1, 1}, raw<double>({3})), "3.0");
  EXPECT_EQ(json_of(DataType::uint64, {1}, raw<std::uint64_t>({~0ull})), "18446744073709551615");
  EXPECT_EQ(json_of(DataType::boolean, {1}, "\1"), "true");
  EXPECT_EQ(json_of(DataType::bytes, {1}, std::string("\2\0\0\0a\"", 6)), R"("a\"")");
}

TEST(TensorToJson, IsNestedListsWhereThereAreMore) {
  EXPECT_EQ(json_of(DataType::int8, {2, 1, 2}, raw<std::int8_t>({1, -2, 3, -4})), "[[[1,-2]],[[3,-4]]]");
  EXPECT_EQ(json_of(DataType::fp16, {2}, raw<std::uint16_t>({0x3c00, 0xb800})), "[1.0,-0.5]");
  EXPECT_EQ(json_of(DataType::bf16, {2}, raw<std::uint16_t>({0x3f80, 0xc000})), "[1.0,-2.0]");
  EXPECT_EQ(json_of(DataType::bytes, {2}, std::string("\0\0\0\0\1\0\0\0b", 9)), R"(["","b"])");
  EXPECT_EQ(json_of(DataType::fp32, {0, 5}, ""), "[]");
  EXPECT_EQ(json_of(DataType::fp32, {1ll << 60, 0}, ""), "[]");
}

TEST(TensorToJson, RefusesWhatJsonDoesNotHave) {
  const std::string refused = "input `x` cannot be given to a program: ";
  EXPECT_EQ(json_of(DataType::fp64, {1}, raw({std::numeric_limits<double>::quiet_NaN()})),
            refused + "a number is not finite");
  EXPECT_EQ(json_of(DataType::fp16, {2}, raw<std::uint16_t>({0, 0x7c00})), refused + "a number is not finite");
  EXPECT_EQ(json_of(DataType::bytes, {1}, std::string("\1\0\0\0\xff", 5)), refused + "a text is not UTF-8");
}

OwnTensor natural(std::string_view json) {
  return tensor_of("x", data::parse_json(json).value());
}
void expect_natural(std::string_view json, DataType type, const std::vector<std::int64_t>& shape,
                    const std::string& bytes) {
  const OwnTensor tensor = natural(json);
  EXPECT_EQ(tensor.info, (data::TensorInfo{"x", type, shape})) << json;
  EXPECT_EQ(tensor.bytes, bytes) << json;
  EXPECT_TRUE(data::well_formed(tensor.info, std::as_bytes(std::span(tensor.bytes))));
}
std::string element(std::string_view text) {
  return raw({static_cast<std::uint32_t>(text.size())}) + std::string(text);
}

TEST(TensorFromJson, HasTheTypeOfItsValues) {
  expect_natural("5", DataType::int64, {1}, raw<std::int64_t>({5}));
  expect_natural("5.5", DataType::fp64, {1}, raw<double>({5.5}));
  expect_natural("true", DataType::boolean, {1}, "\1");
  expect_natural("\"ab\"", DataType::bytes, {1}, element("ab"));
  expect_natural("[[1,2],[3,4]]", DataType::int64, {2, 2}, raw<std::int64_t>({1, 2, 3, 4}));
  expect_natural("[1,2.5]", DataType::fp64, {2}, raw<double>({1, 2.5}));
  expect_natural("[[true],[false]]", DataType::boolean, {2, 1}, std::string("\1\0", 2));
  expect_natural("[\"a\",\"\"]", DataType::bytes, {2}, element("a") + element(""));
  expect_natural("[]", DataType::fp64, {0}, "");
  expect_natural("[[],[]]", DataType::fp64, {2, 0}, "");
}

TEST(TensorFromJson, IsItsOwnTextWhereItIsNoTensor) {
  for (const std::string json :
       {"null", "{\"a\":[1]}", "[1,\"a\"]", "[[1],[2,3]]", "[[1],2]", "[1,[2]]", "[true,1]", "[null]"}) {
    expect_natural(json, DataType::bytes, {1}, element(json));
  }
  const std::string deep = std::string(17, '[') + "1" + std::string(17, ']');
  expect_natural(deep, DataType::bytes, {1}, element(deep));
}

// The shape that comes out, or what is wrong.
std::string declared(std::string_view json, DataType type, std::vector<std::int64_t> shape,
                     const std::string& bytes = "") {
  const auto tensor = tensor_of(Port{"x", type, std::move(shape), std::nullopt}, data::parse_json(json).value());
  if (!tensor) return tensor.error().message;
  EXPECT_EQ(tensor->info.type, type);
  EXPECT_EQ(tensor->bytes, bytes) << json;
  EXPECT_TRUE(data::well_formed(tensor->info, std::as_bytes(std::span(tensor->bytes))));
  std::string text;
  for (const std::int64_t length : tensor->info.shape) text += std::to_string(length) + " ";
  return text;
}

TEST(TensorFromJson, IsOfTheDeclaredTypeAndShape) {
  EXPECT_EQ(declared("[1,2]", DataType::fp32, {2}, raw<float>({1, 2})), "2 ");
  EXPECT_EQ(declared("[[1,2]]", DataType::uint8, {-1, 2}, "\1\2"), "1 2 ");
  EXPECT_EQ(declared("2.0", DataType::int32, {1}, raw<std::int32_t>({2})), "1 ");
  EXPECT_EQ(declared("2", DataType::bf16, {}, raw<std::uint16_t>({0x4000})), "");
  EXPECT_EQ(declared("-128", DataType::int8, {-1}, "\x80"), "1 ");
  EXPECT_EQ(declared("1e15", DataType::uint64, {1}, raw<std::uint64_t>({1'000'000'000'000'000})), "1 ");
  EXPECT_EQ(declared("[]", DataType::fp32, {-1, 4}), "0 4 ");
  EXPECT_EQ(declared("[]", DataType::fp32, {-1, -1, 4}), "0 0 4 ");
  EXPECT_EQ(declared("{\"a\":1}", DataType::bytes, {1}, element("{\"a\":1}")), "1 ");
  EXPECT_EQ(declared("5", DataType::bytes, {}, element("5")), "");
}

TEST(TensorFromJson, SaysWhatIsNotAsDeclared) {
  EXPECT_EQ(declared("[1,2]", DataType::fp32, {3}), "output `x` has shape [2], declared is [3]");
  EXPECT_EQ(declared("[1,2]", DataType::fp32, {1, 2}), "output `x` has shape [2], declared is [1, 2]");
  EXPECT_EQ(declared("[]", DataType::fp32, {2, 4}), "output `x` has shape [0], declared is [2, 4]");
  EXPECT_EQ(declared("[1,2]", DataType::fp32, {}), "output `x` has shape [2], declared is []");
  EXPECT_EQ(declared("256", DataType::uint8, {1}), "output `x` is 256, which is not of type UINT8");
  EXPECT_EQ(declared("-1", DataType::uint64, {1}), "output `x` is -1, which is not of type UINT64");
  EXPECT_EQ(declared("1e30", DataType::int64, {1}), "output `x` is 1e+30, which is not of type INT64");
  EXPECT_EQ(declared("9223372036854775808", DataType::int64, {1}),
            "output `x` is 9223372036854775808.0, which is not of type INT64");
  EXPECT_EQ(declared("1.5", DataType::int32, {1}), "output `x` is 1.5, which is not of type INT32");
  EXPECT_EQ(declared("true", DataType::int32, {1}), "output `x` is true, which is not of type INT32");
  EXPECT_EQ(declared("1", DataType::boolean, {1}), "output `x` is 1, which is not of type BOOL");
  EXPECT_EQ(declared("[[1],2]", DataType::fp32, {-1}), "output `x` is [[1],2], which is not of type FP32");
}

}  // namespace
}  // namespace sluice::engine
