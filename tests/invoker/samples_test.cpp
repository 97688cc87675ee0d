// The inputs of first requests, for whoever profiles a function with them.
#include <gtest/gtest.h>

#include "data/tensor_blob.h"
#include "invoker/scene.h"
#include "support/places.h"

namespace sluice::invoker_test {
namespace {

// Fails the first time.
Application picky() {
  return alone("f",
               "{runtime: process, command: [sh, -c, \"read line; echo '{\\\"error\\\": \\\"No\\\"}' >&3; "
               "while read line; do echo '{\\\"y\\\": 1}' >&3; done\"], profile: {table: [[1, 1, 0, 1.0, 0.1]]}}");
}

class SamplesTest : public testing::Test {
 protected:
  static invoker::AgentOptions options() {
    invoker::AgentOptions out;
    out.spawner.worker = test::worker_program();
    return out;
  }
  SamplesTest() : scene_(picky(), options()) {
    scene_.load();
    (void)scene_.next<InstanceLoaded>();
  }
  void run() {
    (void)scene_.start();
    (void)scene_.next<BatchFinished>();
  }
  Scene scene_;
};

TEST_F(SamplesTest, TheFirstInvocationThatSucceedsIsHandedOverOnce) {
  scene_.agent().want_sample(ApplicationId(0), FunctionId(0), true);
  run();  // fails
  EXPECT_TRUE(scene_.samples().empty());
  run();
  ASSERT_EQ(scene_.samples().size(), 1u);
  const bus::Sampled& sample = scene_.samples().front();
  EXPECT_EQ(sample.application, ApplicationId(0));
  EXPECT_EQ(sample.bytes, 1u);
  const auto tensors = data::from_blob(sample.inputs, scene_.arena());
  ASSERT_TRUE(tensors.ok());
  EXPECT_EQ(tensors->front().info, (data::TensorInfo{"x", DataType::uint8, {1}}));
  run();
  EXPECT_EQ(scene_.samples().size(), 1u);
}

TEST_F(SamplesTest, NobodyIsToldWhatNobodyWants) {
  run();
  run();
  scene_.agent().want_sample(ApplicationId(0), FunctionId(0), true);
  scene_.agent().want_sample(ApplicationId(0), FunctionId(0), false);
  run();
  EXPECT_TRUE(scene_.samples().empty());
}

}  // namespace
}  // namespace sluice::invoker_test
