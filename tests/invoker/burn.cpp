// A program as the process engine runs it, for tests of limits: answers each line on descriptor 3. With an argument
// `cpu` it uses half a second of CPU time with two threads and says how many seconds that took; with a
// number it takes so many megabytes with every line and keeps them.
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

double cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

std::string burn() {
  const auto began = std::chrono::steady_clock::now();
  const double until = cpu_seconds() + 0.5;
  const auto work = [&] {
    while (cpu_seconds() < until) {
    }
  };
  std::thread other(work);
  work();
  other.join();
  return std::to_string(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
}

}  // namespace

int main(int, char** arguments) {
  const std::string what = arguments[1];
  std::vector<std::vector<char>> kept;
  for (std::string line; std::getline(std::cin, line);) {
    if (what != "cpu") kept.emplace_back(std::stoul(what) * 1'000'000, 'x');
    const std::string answer = "{\"y\": " + (what == "cpu" ? burn() : "1.0") + "}\n";
    (void)!::write(3, answer.data(), answer.size());
  }
}
