// The program `sluice`.
#include "cli/cli.h"

int main(int argc, char** argv) {
  return sluice::cli::run(argc, argv);
}
