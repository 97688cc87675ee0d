#include "report/table.h"

#include <gtest/gtest.h>

namespace sluice::report {
namespace {

TEST(Table, AlignsByWhatATerminalShows) {
  Table table({"a", "µ$", "c"});
  table.add({"long", "1", ""});
  table.add({"x", "22", "3"});
  EXPECT_EQ(table.text("  "), "  a     µ$  c\n  long  1\n  x     22  3\n");
}

}  // namespace
}  // namespace sluice::report
