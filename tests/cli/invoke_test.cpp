// `sluice invoke`: how inputs are made and sent, and how answers are shown.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cli/folder.h"
#include "cli/npy.h"
#include "cli/picture.h"
#include "cli/png.h"
#include "cli/program.h"
#include "support/fake_server.h"

namespace sluice::cli {
namespace {

using test::FakeServer;
using test::Folder;
using test::Printed;

std::string raw(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

class Invoke : public testing::Test {
 protected:
  Invoke() { declare(R"({"name":"x","datatype":"FP32","shape":[-1,2]})"); }

  void declare(const std::string& inputs) {
    fake_.answer("GET /v2/models/m", R"({"name":"m","versions":["1"],"platform":"sluice_application","inputs":[)" +
                                         inputs + R"(],"outputs":[]})");
  }
  void answer(const std::string& outputs, const std::string& binary) {
    const std::string json = R"({"model_name":"m","model_version":"1","outputs":[)" + outputs + "]}";
    fake_.answer("POST /v2/models/m/infer", json + binary, "200 OK",
                 "Inference-Header-Content-Length: " + std::to_string(json.size()) +
                     "\r\nSluice-Request-Id: 00000000000000a1\r\n");
  }
  void answer_label() {
    answer(R"({"name":"label","datatype":"INT64","shape":[1],"parameters":{"binary_data_size":8}})",
           std::string("\7\0\0\0\0\0\0\0", 8));
    fake_.answer("GET /v1/requests/00000000000000a1",
                 R"({"id":"00000000000000a1","state":"met","latency_ms":12.3,"slo_ms":420.0,"slack_ms":407.7})");
  }
  [[nodiscard]] Printed invoke(const std::string& arguments) const {
    return test::sluice("invoke m " + arguments + fake_.option());
  }
  [[nodiscard]] std::string sent() const { return fake_.heard().at(1).body; }

  Folder folder_;
  FakeServer fake_;
};

TEST_F(Invoke, ShowsOutputsAndTheTimeAgainstTheObjective) {
  answer_label();
  const Printed run = invoke(R"(--data '{"x": [1, 2.5]}' --slo 200ms)");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output, R"(ok: m answered in 12.3 ms, SLO 420 ms: met, slack 408 ms; request 00000000000000a1
  output  type       value
  label   INT64 [1]  7
)");
  EXPECT_EQ(sent(),
            R"({"parameters":{"slo_ms":200.0,"binary_data_output":true},"inputs":[{"name":"x","datatype":"FP32",)"
            R"("shape":[2],"parameters":{"binary_data_size":8}}]})" +
                raw({1, 2.5}));
  EXPECT_NE(fake_.heard().at(1).head.find("Inference-Header-Content-Length: " + std::to_string(sent().size() - 8)),
            std::string::npos);
}

TEST_F(Invoke, SendsSeveralRows) {
  answer_label();
  EXPECT_EQ(invoke(R"(--data '{"x": [[1, 2], [3, 4], [5, 6]]}')").status, 0);
  EXPECT_NE(sent().find(R"("shape":[3,2],"parameters":{"binary_data_size":24})"), std::string::npos) << sent();
}

TEST_F(Invoke, RepeatsARefusalWithItsCode) {
  fake_.answer("POST /v2/models/m/infer",
               R"({"error":"SLO cannot be met: needs 240 ms, deadline in 180 ms","code":"SLO_INFEASIBLE",)"
               R"("retry_after_ms":300})",
               "429 Too Many Requests", "Retry-After: 1\r\n");
  const Printed run = invoke(R"(--data '{"x": [1, 2]}')");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.output,
            "error: SLO cannot be met: needs 240 ms, deadline in 180 ms (SLO_INFEASIBLE, HTTP 429); try again in 300 "
            "ms\n");
}

TEST_F(Invoke, SaysWhichStageFailed) {
  fake_.answer("POST /v2/models/m/infer", R"({"error":"out of memory","code":"STAGE_FAILED","stage":"ocr"})",
               "500 Internal Server Error", "Sluice-Request-Id: 00000000000000a1\r\n");
  EXPECT_EQ(invoke(R"(--data '{"x": [1, 2]}')").output,
            "error: out of memory (STAGE_FAILED, HTTP 500); stage 'ocr'; request 00000000000000a1\n");
}

TEST_F(Invoke, SendsFilesAndPictures) {
  declare(R"({"name":"x","datatype":"FP32","shape":[-1,2]},{"name":"raw","datatype":"INT32","shape":[-1,-1,1]},)"
          R"({"name":"text","datatype":"BYTES","shape":[-1,1]},{"name":"image","datatype":"FP32","shape":[-1,1,1,2]})");
  (void)invoke("");  // takes the first metadata
  answer_label();
  folder_.write("x.npy", encode_npy({{"", DataType::fp32, {1, 2}}, raw({3, 4})}).value());
  folder_.write("raw.bin", std::string("\1\0\0\0\2\0\0\0", 8));
  folder_.write("text.txt", "hello");
  folder_.write("image.png", encode_png({.width = 2, .height = 1, .channels = 1, .pixels = std::string("\0\xff", 2)}));
  const Printed run =
      invoke("--input x=" + folder_.path("x.npy") + " --input raw=" + folder_.path("raw.bin") +
             " --input text=" + folder_.path("text.txt") + " --image image=" + folder_.path("image.png"));
  EXPECT_EQ(run.status, 0) << run.output;
  const std::string body = fake_.heard().at(2).body;
  EXPECT_EQ(body.substr(body.find(R"("inputs")")),
            R"("inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"parameters":{"binary_data_size":8}},)"
            R"({"name":"raw","datatype":"INT32","shape":[2,1],"parameters":{"binary_data_size":8}},)"
            R"({"name":"text","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":9}},)"
            R"({"name":"image","datatype":"FP32","shape":[1,1,2],"parameters":{"binary_data_size":8}}]})" +
                raw({3, 4}) + std::string("\1\0\0\0\2\0\0\0", 8) + std::string("\5\0\0\0hello", 9) + raw({0, 1}));
}

TEST_F(Invoke, SaysWhatDoesNotFit) {
  folder_.write("image.png", encode_png({.width = 2, .height = 2, .channels = 1, .pixels = "abcd"}));
  folder_.write("short.bin", "abc");
  const std::string image = folder_.path("image.png"), bin = folder_.path("short.bin");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "input 'x', FP32 [2], is missing; give it with --data, --input or --image"},
      {R"(--data '{"y": 1}')", "--data: there is no input 'y'; the inputs are x"},
      {R"(--data '{"x": [1, 2, 3]}')", "--data is FP32 [3], input 'x' wants FP32 [2]"},
      {R"(--data '{"x": ["a", "b"]}')", R"(--data: 'x' is ["a","b"], FP32 [2] is wanted)"},
      {R"(--data '[1]')", R"(--data: write a JSON object of inputs by name, e.g. {"x": [1, 2]})"},
      {"--data @nowhere.json", "--data: there is no file nowhere.json"},
      {"--image x=" + image,
       image + " is FP32 [1, 2, 2], input 'x' wants FP32 [2]; pictures are neither resized nor converted"},
      {"--image x=" + bin, "--image: " + bin + ": is no PNG and no binary PGM or PPM; convert it first"},
      {"--input x=" + bin, "--input: " + bin + ": has 3 bytes, which is not FP32 [2]"},
      {"--input x", "--input: write NAME=FILE instead of 'x'"},
      {R"(--data '{"x": [1, 2]}' --image x=)" + image, "input 'x' is given twice"}};
  for (const auto& [arguments, message] : cases) {
    const Printed run = invoke(arguments);
    EXPECT_EQ(run.status, 1) << arguments;
    EXPECT_EQ(run.output, "error: " + message + "\n") << arguments;
  }
}

TEST_F(Invoke, TakesAnythingWhereNothingIsDeclared) {
  declare("");
  (void)invoke("");
  answer_label();
  EXPECT_EQ(invoke(R"(--data '{"n": 3, "t": ["a"]}')").status, 0);
  EXPECT_NE(fake_.heard().at(2).body.find(R"({"name":"n","datatype":"INT64","shape":[1],)"), std::string::npos);
  EXPECT_NE(fake_.heard().at(2).body.find(R"({"name":"t","datatype":"BYTES","shape":[1],)"), std::string::npos);
}

TEST_F(Invoke, WritesOutputsToFiles) {
  answer(R"({"name":"image","datatype":"FP32","shape":[1,1,2],"parameters":{"binary_data_size":8}})", raw({0, 1}));
  const std::string png = folder_.path("out.png"), npy = folder_.path("out.npy"), bin = folder_.path("out.bin");
  const Printed run = invoke(R"(--data '{"x": [1, 2]}')"
                             " --output image=" +
                             png + " --output image=" + npy + " --output image=" + bin);
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_NE(run.output.find("  wrote image to " + bin + ", 8 bytes\n"), std::string::npos) << run.output;
  EXPECT_EQ(decode_png(folder_.read("out.png")).value().pixels, std::string("\0\xff", 2));
  EXPECT_EQ(decode_npy("", folder_.read("out.npy")).value().bytes, raw({0, 1}));
  EXPECT_EQ(folder_.read("out.bin"), raw({0, 1}));
  EXPECT_NE(invoke(R"(--data '{"x": [1, 2]}' --output label=)" + png)
                .output.find("error: --output: there is no output 'label'; the outputs are image\n"),
            std::string::npos);
}

TEST_F(Invoke, SaysHowToFetchAnAsynchronousRequest) {
  fake_.answer("POST /v2/models/m/infer?async=true",
               R"({"id":"00000000000000a1","model_name":"m","model_version":"1"})", "202 Accepted");
  EXPECT_EQ(invoke(R"(--async --data '{"x": [1, 2]}')").output, R"(ok: accepted request 00000000000000a1 of m
  sluice requests 00000000000000a1   its state and outputs
  sluice trace 00000000000000a1      its stages
)");
  fake_.answer("GET /v1/requests/00000000000000a1",
               R"({"id":"00000000000000a1","application":"m","arrived_ms":1767225600000.0,"state":"met",)"
               R"("latency_ms":12.3,"slo_ms":420.0,"slack_ms":407.7,"cost_dollars":1e-6,"cold":false,)"
               R"("asynchronous":true,"result":{"outputs":[{"name":"score","datatype":"FP32","shape":[2],)"
               R"("data":[0.25,0.75]}]}})");
  ::setenv("TZ", "UTC", 1);
  EXPECT_EQ(test::sluice("requests a1" + fake_.option()).output,
            R"(request 00000000000000a1 of 'm'   SLO 420 ms   met, slack 408 ms
  arrived 2026-01-01 00:00:00, warm start, cost $1e-06
  output  type      value
  score   FP32 [2]  [0.25, 0.75]
)");
  ::unsetenv("TZ");
}

TEST_F(Invoke, SumsUpRepeatedCalls) {
  fake_.answer("POST /v2/models/m/infer", R"({"outputs":[]})");
  fake_.answer("POST /v2/models/m/infer", R"({"error":"full","code":"QUEUE_FULL"})", "429 Too Many Requests");
  fake_.answer("POST /v2/models/m/infer", R"({"outputs":[]})");
  const Printed run = invoke(R"(--repeat 5 --data '{"x": [1, 2]}')");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("ok: 4 of 5 calls of m answered: p50 "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("; missed 1: 1 QUEUE_FULL\n"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("error: 1 were not, the last one: full (QUEUE_FULL, HTTP 429)\n"), std::string::npos);
  EXPECT_EQ(fake_.heard().size(), 6u);
}

TEST_F(Invoke, CountsCallsThatWereLate) {
  const auto answer_once = [&](const std::string& id, const std::string& state) {
    fake_.answer("POST /v2/models/m/infer", R"({"outputs":[]})", "200 OK", "Sluice-Request-Id: " + id + "\r\n");
    fake_.answer("GET /v1/requests/" + id, R"({"id":")" + id + R"(","state":")" + state + R"("})");
  };
  answer_once("00000000000000a1", "met");
  answer_once("00000000000000a2", "late");
  fake_.answer("POST /v2/models/m/infer", R"({"error":"no","code":"STAGE_FAILED"})", "500 Internal Server Error");
  fake_.answer("POST /v2/models/m/infer", R"({"error":"full"})", "503 Service Unavailable");
  answer_once("00000000000000a3", "late");
  const Printed run = invoke(R"(--repeat 5 --data '{"x": [1, 2]}')");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("; missed 4: 2 late, 1 HTTP 503, 1 STAGE_FAILED\n"), std::string::npos) << run.output;
}

TEST_F(Invoke, SumsUpRepeatedCallsInJson) {
  fake_.answer("POST /v2/models/m/infer", R"({"error":"full","code":"QUEUE_FULL"})", "429 Too Many Requests");
  fake_.answer("POST /v2/models/m/infer", R"({"outputs":[]})");
  const Printed run = invoke(R"(--json --repeat 3 --data '{"x": [1, 2]}')");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.output.find(R"({"application":"m","calls":3,"answered":2,"late":0,"refused":{"QUEUE_FULL":1},)"
                            R"("latency_ms":{"p50":)"),
            0u)
      << run.output;
  EXPECT_NE(run.output.find(R"-("last_error":"full (QUEUE_FULL, HTTP 429)"})-"), std::string::npos);
}

TEST_F(Invoke, PrintsTheServersJson) {
  fake_.answer("POST /v2/models/m/infer", R"({"outputs":[]})");
  EXPECT_EQ(invoke(R"(--json --data '{"x": [1, 2]}')").output, "{\"outputs\":[]}\n");
  EXPECT_NE(sent().find(R"("binary_data_output":false)"), std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
