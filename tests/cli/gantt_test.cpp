// The picture of one request.
#include "cli/gantt.h"

#include <gtest/gtest.h>

namespace sluice::cli {
namespace {

TEST(Gantt, KeepsTheDeadlineInSightOfALateRequest) {
  EXPECT_EQ(gantt({.stages = {{.name = "a", .ready_ms = 0, .start_ms = 10, .end_ms = 60},
                              {.name = "bcd", .ready_ms = 60, .start_ms = 60, .end_ms = 100}},
                   .deadline_ms = 80,
                   .until_ms = 100,
                   .width = 20}),
            "  a    ..##########    |\n"
            "  bcd              ####|###\n"
            "       0         50        100 ms\n");
}

TEST(Gantt, DrawsWhatIsNotOverUpToNow) {
  EXPECT_EQ(gantt({.stages = {{.name = "runs", .ready_ms = 0, .start_ms = 10},
                              {.name = "waits", .ready_ms = 20},
                              {.name = "loads", .ready_ms = 20, .load_ms = 20, .beside = "cold"}},
                   .deadline_ms = 100,
                   .until_ms = 50,
                   .width = 20}),
            "  runs   ..########          |\n"
            "  waits      ......          |\n"
            "  loads      ~~~~..          |  cold\n"
            "         0         50        100 ms\n");
}

TEST(Gantt, ShowsAStageTooShortForAColumn) {
  EXPECT_EQ(
      gantt(
          {.stages = {{.name = "a", .ready_ms = 50, .start_ms = 50, .end_ms = 50.1}}, .deadline_ms = 100, .width = 10}),
      "  a       #    |\n"
      "     0         100 ms\n");
}

TEST(Gantt, DrawsAnEmptyRequest) {
  EXPECT_EQ(gantt({.deadline_ms = 0.2, .width = 20}), "    0         100       200 µs\n");
  EXPECT_NE(gantt({}).find(" µs\n"), std::string::npos);
}

}  // namespace
}  // namespace sluice::cli
