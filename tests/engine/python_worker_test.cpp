#include "engine/python_worker.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "support/places.h"

namespace sluice::engine {
namespace {

TEST(PythonWorkerSource, IsTheFile) {
  std::ifstream file(test::in_source("src/engine/python/sluice_worker.py"));
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_GT(text.str().size(), 1000u);
  EXPECT_TRUE(python_worker_source() == text.str());
}

}  // namespace
}  // namespace sluice::engine
