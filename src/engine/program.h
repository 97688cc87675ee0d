// Program: a child process that answers lines with lines, as OpenWhisk's ActionLoop has it: requests on standard input,
// answers on descriptor 3; what it prints goes where ours goes. Used by the process engine.
#pragma once
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sluice::engine {

class Program {
 public:
  static constexpr std::size_t kAnswerMax = 64u << 20;
  // The end of the error of a program that ended: whoever started the worker knows more of it, and adds that.
  static constexpr std::string_view kEnded = " before it had answered";

  // Looked for in PATH, as a shell does. It is killed when this goes, and when this process does.
  [[nodiscard]] static Result<Program> start(const std::vector<std::string>& command);
  Program(Program&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        requests_(std::exchange(other.requests_, -1)),
        answers_(std::exchange(other.answers_, -1)) {}
  Program& operator=(Program&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(requests_, other.requests_);
    std::swap(answers_, other.answers_);
    return *this;
  }
  ~Program();

  // Sends one line, which brings its end along, and waits for one, which is given without. After an error the program
  // is of no more use: nobody knows what it would answer to.
  [[nodiscard]] Result<std::string> exchange(std::string_view line);

 private:
  Program(pid_t pid, int requests, int answers) : pid_(pid), requests_(requests), answers_(answers) {}
  [[nodiscard]] Status write_some(std::string_view& line);
  [[nodiscard]] Status read_some(std::string& answer);
  [[nodiscard]] Error ended();

  pid_t pid_ = -1;
  int requests_ = -1, answers_ = -1;  // our ends, which do not block
};

}  // namespace sluice::engine
