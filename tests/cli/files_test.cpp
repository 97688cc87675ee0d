// Files that tensors come from and go to: PNG, PNM, NumPy.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "cli/npy.h"
#include "cli/picture.h"
#include "cli/png.h"
#include "cli/tensor_text.h"

namespace sluice::cli {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string out;
  for (const int value : values) out += static_cast<char>(static_cast<unsigned char>(value));
  return out;
}

Picture pattern(std::uint32_t width, std::uint32_t height, std::uint32_t channels) {
  Picture out{.width = width, .height = height, .channels = channels, .pixels = {}};
  for (std::uint32_t i = 0; i < width * height * channels; ++i) out.pixels += static_cast<char>(i * 37 % 251);
  return out;
}

engine::OwnTensor floats(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  engine::OwnTensor out{{"x", DataType::fp32, std::move(shape)}, std::string(values.size() * sizeof(float), '\0')};
  if (!values.empty()) std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

TEST(Png, ComesBackAsItWasWritten) {
  for (const std::uint32_t channels : {1u, 3u, 4u}) {
    const Picture picture = pattern(13, 7, channels);
    const auto back = decode_png(encode_png(picture));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, picture);
  }
}

// 4 x 9 pixels, rows with the filters none, sub, up, average and paeth, every case and tie of it; made with another
// program.
const std::string kFiltered = bytes(
    {0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00,
     0x04, 0x00, 0x00, 0x00, 0x09, 0x08, 0x00, 0x00, 0x00, 0x00, 0x30, 0x04, 0xD2, 0x7C, 0x00, 0x00, 0x00, 0x38, 0x49,
     0x44, 0x41, 0x54, 0x78, 0x01, 0x01, 0x2D, 0x00, 0xD2, 0xFF, 0x00, 0x01, 0x03, 0x06, 0x04, 0x01, 0x03, 0x98, 0x1F,
     0x4A, 0x02, 0x3B, 0xA3, 0xE1, 0x59, 0x03, 0xE6, 0xE1, 0x2E, 0xD2, 0x03, 0x5B, 0x8B, 0x1F, 0x86, 0x04, 0xA9, 0xA3,
     0x00, 0xBA, 0x04, 0xFB, 0x04, 0x01, 0x65, 0x04, 0xB9, 0xC2, 0x84, 0xE2, 0x04, 0x1F, 0x87, 0x00, 0x01, 0x2B, 0x0E,
     0x0E, 0x89, 0xD2, 0xE0, 0xD5, 0x98, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82});

TEST(Png, TakesEveryFilterBack) {
  const auto picture = decode_png(kFiltered);
  ASSERT_TRUE(picture) << picture.error().message;
  EXPECT_EQ(picture->pixels, bytes({1,   3, 6, 4, 3, 155, 186, 4, 62, 62, 155, 93,  5, 2, 124, 62, 93, 186,
                                    186, 2, 6, 0, 0, 186, 1,   4, 5,  31, 186, 124, 0, 1, 217, 3,  0,  2}));
}

// A palette, and grey with alpha.
TEST(Png, BecomesColoursOfEightBits) {
  const auto palette = decode_png(
      bytes({0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00, 0x00,
             0x00, 0x02, 0x00, 0x00, 0x00, 0x01, 0x08, 0x03, 0x00, 0x00, 0x00, 0xC3, 0xFC, 0x8F, 0xB8, 0x00, 0x00, 0x00,
             0x06, 0x50, 0x4C, 0x54, 0x45, 0xFF, 0x00, 0x33, 0x01, 0x02, 0x03, 0x09, 0xC0, 0x1C, 0x43, 0x00, 0x00, 0x00,
             0x0B, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x60, 0x64, 0x00, 0x00, 0x00, 0x05, 0x00, 0x02, 0xD1, 0x66,
             0x33, 0x78, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82}));
  ASSERT_TRUE(palette) << palette.error().message;
  EXPECT_EQ(*palette, (Picture{.width = 2, .height = 1, .channels = 3, .pixels = bytes({1, 2, 3, 255, 0, 51})}));
  const auto grey = decode_png(
      bytes({0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
             0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x04, 0x00, 0x00, 0x00, 0xB5, 0x1C, 0x0C, 0x02, 0x00,
             0x00, 0x00, 0x0B, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x60, 0x6F, 0x00, 0x00, 0x00, 0x91, 0x00,
             0x88, 0x24, 0x16, 0x1D, 0x90, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82}));
  ASSERT_TRUE(grey) << grey.error().message;
  EXPECT_EQ(*grey, (Picture{.width = 1, .height = 1, .channels = 4, .pixels = bytes({7, 7, 7, 128})}));
}

TEST(Png, RefusesWhatIsBroken) {
  for (std::size_t length = 8; length < kFiltered.size(); ++length)
    EXPECT_FALSE(decode_png(std::string_view(kFiltered).substr(0, length))) << length;
  for (std::size_t i = 8; i < kFiltered.size(); ++i) {  // any byte that changes
    std::string wrong = kFiltered;
    wrong[i] = static_cast<char>(wrong[i] ^ 0x55);
    EXPECT_FALSE(decode_png(wrong)) << i;
  }
  std::string large = kFiltered;
  large.replace(16, 8, bytes({0, 0, 0x27, 0x10, 0, 0, 0x27, 0x10}));  // 10,000 x 10,000, with the checksum of it
  large.replace(29, 4, bytes({0x9F, 0x25, 0x3D, 0xFB}));
  EXPECT_NE(decode_png(large).error().message.find("pixels, at most"), std::string::npos);
  EXPECT_EQ(decode_picture("GIF89a").error().message, "is no PNG and no binary PGM or PPM; convert it first");
}

TEST(Pnm, IsReadWithComments) {
  const auto grey = decode_picture("P5\n# made by hand\n2 1\n255\n" + bytes({0, 255}));
  ASSERT_TRUE(grey) << grey.error().message;
  EXPECT_EQ(*grey, (Picture{.width = 2, .height = 1, .channels = 1, .pixels = bytes({0, 255})}));
  EXPECT_EQ(decode_picture("P6 1 1 255\n" + bytes({1, 2, 3})).value().channels, 3u);
  for (const char* wrong :
       {"P5", "P5 1 1", "P5 1 1 65535\nab", "P5 2 2 255\nabc", "P5 0 1 255\n", "P5 #", "P6 99999 99999 255 "})
    EXPECT_FALSE(decode_picture(wrong)) << wrong;
}

TEST(PictureTensor, HasPlanesBetweenZeroAndOne) {
  const Picture picture{.width = 2, .height = 1, .channels = 3, .pixels = bytes({255, 0, 51, 0, 255, 102})};
  const engine::OwnTensor tensor = tensor_of("x", picture);
  EXPECT_EQ(tensor.info.shape, (std::vector<std::int64_t>{3, 1, 2}));
  EXPECT_EQ(tensor.bytes, floats({3, 1, 2}, {1, 0, 0, 1, 0.2F, 0.4F}).bytes);
  EXPECT_EQ(picture_of(tensor).value(), picture);
}

TEST(PictureTensor, IsCutToWhatAPictureHolds) {
  EXPECT_EQ(picture_of(floats({1, 1, 1, 4}, {-1, 2, NAN, 0.5F})).value().pixels, bytes({0, 255, 0, 128}));
  EXPECT_FALSE(picture_of(floats({2, 1, 1}, {0, 0})));
  EXPECT_FALSE(picture_of(floats({4}, {0, 0, 0, 0})));
}

TEST(Npy, ComesBackAsItWasWritten) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, 3}, {6}, {6, 1, 1}}) {
    const auto tensor = floats(shape, {1, 2, 3, 4, 5, 6});
    const auto file = encode_npy(tensor);
    ASSERT_TRUE(file);
    EXPECT_EQ(file->size() % 64, tensor.bytes.size() % 64);
    const auto back = decode_npy("x", *file);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->info, tensor.info);
    EXPECT_EQ(back->bytes, tensor.bytes);
  }
  EXPECT_EQ(decode_npy("x", *encode_npy(floats({}, {7}))).value().info.shape.size(), 0u);
  EXPECT_FALSE(encode_npy({{"x", DataType::bytes, {1}}, std::string(4, '\0')}));
}

std::string npy(const std::string& header, const std::string& numbers) {
  return "\x93NUMPY" + bytes({1, 0, static_cast<int>(header.size()), 0}) + header + numbers;
}

TEST(Npy, RefusesWhatItDoesNotRead) {
  const std::string four(4, '\0');
  EXPECT_TRUE(decode_npy("x", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", four)));
  EXPECT_TRUE(decode_npy("x", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2)}", four)));
  for (const char* wrong :
       {"{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1", "", "{"})
    EXPECT_FALSE(decode_npy("x", npy(wrong, four))) << wrong;
  EXPECT_FALSE(decode_npy("x", "\x93NUMPY\1"));
}

TEST(TensorText, ShowsSmallOnesWholeAndOthersAsTheirRange) {
  EXPECT_EQ(value_text(floats({1}, {0.5})), "0.5");
  EXPECT_EQ(value_text(floats({2, 1}, {0.5, -3})), "[0.5, -3]");
  EXPECT_EQ(value_text(floats({0}, {})), "empty");
  std::vector<float> many(100);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
  EXPECT_EQ(value_text(floats({100}, many)), "min 0 mean 49.5 max 99");
  many[0] = NAN;
  EXPECT_EQ(value_text(floats({10, 10}, many)), "min 1 mean 50 max 99, 1 not finite");
  EXPECT_EQ(value_text({{"x", DataType::bytes, {2}}, bytes({1, 0, 0, 0, 'a', 2, 0, 0, 0, 'b', 10})}),
            "[\"a\", \"b\\x0a\"]");
  EXPECT_EQ(value_text({{"x", DataType::int64, {1}}, std::string(8, '\xff')}), "-1");
  EXPECT_EQ(value_text({{"x", DataType::boolean, {2}}, bytes({0, 1})}), "[false, true]");
  EXPECT_EQ(type_text({"x", DataType::fp16, {3, -1}}), "FP16 [3, -1]");
}

}  // namespace
}  // namespace sluice::cli
