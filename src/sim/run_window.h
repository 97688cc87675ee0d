// RunWindow: the requests of one stretch of a run and all batches that had one of them, for a closer look.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/observer.h"

namespace sluice::sim {

class RunWindow final : public Observer {
 public:
  struct StageName {
    std::uint32_t application = 0;
    std::string stage, function;
  };
  struct Action {
    ActionRow row;  // without text and members, which are below
    std::uint32_t stage = 0;
    std::vector<BatchMember> members;
  };

  // Requests `first` to `first + count - 1`.
  RunWindow(std::uint64_t first, std::uint64_t count) : first_(first), count_(count) {}
  void request(const RequestRow& row) override;
  void action(const ActionRow& row) override;

  [[nodiscard]] std::uint64_t first() const { return first_; }
  [[nodiscard]] const std::vector<RequestRow>& requests() const { return requests_; }  // in the order of answers
  [[nodiscard]] const std::vector<Action>& actions() const { return actions_; }        // in the order of finishing
  [[nodiscard]] const std::vector<StageName>& stages() const { return stages_; }

 private:
  [[nodiscard]] bool within(RequestId id) const { return id.value() - first_ < count_; }  // wraps below `first`
  [[nodiscard]] std::uint32_t stage_of(const ActionRow& row);

  std::uint64_t first_, count_;
  std::vector<RequestRow> requests_;
  std::vector<Action> actions_;
  std::vector<StageName> stages_;
  std::map<std::tuple<std::uint32_t, std::string, std::string>, std::uint32_t> numbers_;
};

}  // namespace sluice::sim
