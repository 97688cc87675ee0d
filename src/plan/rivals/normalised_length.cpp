#include "plan/rivals/normalised_length.h"

#include <algorithm>
#include <cstddef>
#include <map>

namespace sluice::plan {
namespace {

// By configuration the times of the stages that run something; only configurations they all have.
std::vector<std::vector<double>> common_times(std::span<const Candidates> running) {
  std::map<Configuration, std::vector<double>> by_configuration;
  for (std::size_t s = 0; s < running.size(); ++s) {
    for (const Candidate& c : running[s]) {
      auto& times = by_configuration[c.configuration];
      if (times.size() == s) times.push_back(c.ms);  // else an earlier stage lacks it, or it is listed twice
    }
  }
  std::vector<std::vector<double>> common;
  for (auto& [configuration, times] : by_configuration) {
    if (times.size() == running.size()) common.push_back(std::move(times));
  }
  return common;
}

std::vector<double> mean_times(std::span<const Candidates> running) {
  std::vector<double> means;
  for (const Candidates& candidates : running) {
    double sum = 0;
    for (const Candidate& c : candidates) sum += c.ms;
    means.push_back(sum / static_cast<double>(candidates.size()));
  }
  return means;
}

// The mean share of each position in `rows`. Rows that take no time say nothing.
std::vector<double> mean_shares(const std::vector<std::vector<double>>& rows, std::size_t width) {
  std::vector<double> shares(width, 0);
  double counted = 0;
  for (const auto& row : rows) {
    double sum = 0;
    for (const double ms : row) sum += ms;
    if (sum <= 0) continue;
    for (std::size_t s = 0; s < width; ++s) shares[s] += row[s] / sum;
    ++counted;
  }
  for (double& share : shares) share /= std::max(counted, 1.0);
  return shares;
}

}  // namespace

std::vector<double> average_normalised_lengths(std::span<const Candidates> stages) {
  std::vector<Candidates> running;
  for (const Candidates& candidates : stages) {
    if (!candidates.empty()) running.push_back(candidates);
  }
  auto rows = common_times(running);
  if (rows.empty()) rows.push_back(mean_times(running));
  const std::vector<double> shares = mean_shares(rows, running.size());
  std::vector<double> lengths(stages.size(), 0);
  for (std::size_t s = 0, r = 0; s < stages.size(); ++s) {
    if (!stages[s].empty()) lengths[s] = shares[r++];
  }
  return lengths;
}

}  // namespace sluice::plan
