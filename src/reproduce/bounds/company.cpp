#include "reproduce/bounds/company.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace sluice::reproduce {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr int kRounds = 2;  // windows and luck narrow each other; a third changes hardly anything

}  // namespace

Company::Company(const Offered& offered, std::vector<Role> roles)
    : offered_(offered), roles_(std::move(roles)), meetings_(offered.functions.size()) {
  CHECK(roles_.size() == offered.requests.size());
  std::vector<double> luckiest(offered.functions.size(), kForever);
  for (std::size_t r = 0; r < roles_.size(); ++r) {
    first_.push_back(own_.size());
    silent_ = silent_ || roles_[r].may_fail || (roles_[r].present && !roles_[r].shares);
    for (const OfferedStage& stage : offered.stages_of(r)) {
      own_.push_back(roles_[r].present ? offered.luck(r, stage) : kForever);
      luckiest[stage.function] = std::min(luckiest[stage.function], own_.back());
    }
  }
  for (std::size_t r = 0; r < roles_.size(); ++r) {
    for (const OfferedStage& stage : offered.stages_of(r)) best_.push_back(luckiest[stage.function]);
  }
  from_.resize(own_.size());
  until_.resize(own_.size());
  for (int round = 0; round < kRounds; ++round) meet();
  for (Meeting& meeting : meetings_) rank(meeting);
}

double Company::least_ms(std::size_t request, std::size_t stage) const {
  const OfferedFunction& function = offered_.functions[offered_.stages_of(request)[stage].function];
  const double alone = own_luck(request, stage) * function.fastest_ms(1);
  const double in_company = best_luck(request, stage) * function.fastest_ms(2);
  return (stage == 0 ? 0 : function.transfer_ms(1)) + std::min(alone, in_company);
}

// Windows from the luck known so far, then the luck that these windows leave.
void Company::meet() {
  for (Meeting& meeting : meetings_) {
    meeting = {};
    meeting.fastest_ms = kForever;
  }
  for (std::size_t r = 0; r < roles_.size(); ++r) add_entries(r);
  for (std::size_t f = 0; f < meetings_.size(); ++f) {
    Meeting& meeting = meetings_[f];
    std::sort(meeting.entries.begin(), meeting.entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.from, a.request) < std::pair(b.from, b.request);
    });
    double least = kForever;
    for (const Entry& entry : meeting.entries) {
      if (!entry.in_time || entry.may_fail) least = std::min(least, entry.luck);
      meeting.waits_luck.push_back(least);
      if (entry.in_time) meeting.window_ms = std::max(meeting.window_ms, entry.until - entry.from);
    }
    find_best_luck(f);
  }
}

void Company::add_entries(std::size_t request) {
  if (!roles_[request].present) return;
  const auto& stages = offered_.stages_of(request);
  const Role& role = roles_[request];
  double time = offered_.requests[request].at_ms;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    from_[at(request, s)] = time;
    time += least_ms(request, s);
  }
  time = role.in_time ? offered_.requests[request].due_ms : kForever;
  for (std::size_t s = stages.size(); s-- > 0;) {
    const std::size_t i = at(request, s);
    until_[i] = time;
    time -= least_ms(request, s);
    Meeting& meeting = meetings_[stages[s].function];
    meeting.entries.push_back(
        {from_[i], until_[i], own_[i], static_cast<std::uint32_t>(request), role.shares, role.in_time, role.may_fail});
    const double fastest = best_[i] * offered_.functions[stages[s].function].fastest_ms(2);
    meeting.fastest_ms = std::min(meeting.fastest_ms, fastest);
  }
}

// Two requests can be in one batch only if their windows overlap by the time it takes.
void Company::find_best_luck(std::size_t function) {
  const Meeting& meeting = meetings_[function];
  const std::vector<Entry>& entries = meeting.entries;
  for (std::size_t r = 0; r < roles_.size(); ++r) {
    if (!roles_[r].in_time) continue;  // the luckiest of all may come to those that wait forever
    const auto& stages = offered_.stages_of(r);
    for (std::size_t s = 0; s < stages.size(); ++s) {
      if (stages[s].function != function) continue;
      const std::size_t i = at(r, s);
      const double last_start = until_[i] - meeting.fastest_ms;
      auto e = std::upper_bound(entries.begin(), entries.end(), last_start,
                                [](double start, const Entry& entry) { return start < entry.from; });
      double best = own_[i];
      if (e != entries.begin())
        best = std::min(best, meeting.waits_luck[static_cast<std::size_t>(e - entries.begin()) - 1]);
      while (e != entries.begin() && (e - 1)->from >= from_[i] + meeting.fastest_ms - meeting.window_ms) {
        --e;
        if (e->until >= from_[i] + meeting.fastest_ms) best = std::min(best, e->luck);
      }
      best_[i] = best;
    }
  }
}

void Company::rank(Meeting& meeting) const {
  const std::size_t function = static_cast<std::size_t>(&meeting - meetings_.data());
  std::erase_if(meeting.entries, [](const Entry& entry) { return !entry.shares; });
  meeting.width = offered_.functions[function].ways.size();
  std::vector<double> latest(meeting.width, -kForever);
  for (const Entry& entry : meeting.entries) {
    if (entry.until > latest.back()) {
      latest.back() = entry.until;
      for (std::size_t i = latest.size() - 1; i > 0 && latest[i] > latest[i - 1]; --i)
        std::swap(latest[i], latest[i - 1]);
    }
    meeting.latest.insert(meeting.latest.end(), latest.begin(), latest.end());
  }
}

// A batch starts when the last of its members could: at some `from`. With those that could have begun by then, n of
// them stay until the n-th latest `until`, or the request's own.
std::span<const double> Company::together_ms(std::size_t request, std::size_t stage) {
  CHECK(roles_[request].in_time);
  const Meeting& meeting = meetings_[offered_.stages_of(request)[stage].function];
  const std::size_t i = at(request, stage);
  together_.assign(meeting.width, -kForever);
  auto e = std::lower_bound(meeting.entries.begin(), meeting.entries.end(), from_[i],
                            [](const Entry& entry, double start) { return entry.from < start; });
  for (; e != meeting.entries.end() && e->from <= until_[i]; ++e) {
    const double* const latest =
        meeting.latest.data() + static_cast<std::size_t>(e - meeting.entries.begin()) * meeting.width;
    for (std::size_t n = 0; n < meeting.width; ++n) {
      together_[n] = std::max(together_[n], std::min(until_[i], latest[n]) - e->from);
    }
  }
  return together_;
}

}  // namespace sluice::reproduce
