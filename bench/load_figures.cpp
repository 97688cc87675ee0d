#include "bench/load_figures.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>

namespace sluice::bench {
namespace {

double quantile(const std::vector<float>& sorted, double at) {
  if (sorted.empty()) return 0;
  return static_cast<double>(sorted[static_cast<std::size_t>(at * static_cast<double>(sorted.size() - 1))]);
}

}  // namespace

double cpu_seconds_of(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::size_t at = text.rfind(')');  // a name may hold anything
  if (at == std::string::npos) return 0;
  unsigned long user = 0, system = 0;
  const char* fields = text.c_str() + at + 2;
  if (std::sscanf(fields, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) return 0;
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double own_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void LoadFigures::answered(int status, double latency_us) {
  latencies_us_[status].push_back(static_cast<float>(latency_us));
  if (status == 200 && slo_us_ > 0 && latency_us <= slo_us_) ++in_time_;
}

std::uint64_t LoadFigures::count() const {
  std::uint64_t out = 0;
  for (const auto& [status, latencies] : latencies_us_) out += latencies.size();
  return out;
}

std::string LoadFigures::text(const Run& run) {
  const double total = std::accumulate(run.server_cpu.begin(), run.server_cpu.end(), 0.0);
  const auto answers = static_cast<double>(count());
  std::string out = fmt::format("requests {:.0f}  rate {:.0f}/s  unanswered {}  connections {}  client CPU {:.2f} s",
                                answers, answers / run.seconds, run.unanswered, run.connections, run.client_cpu);
  if (total > 0)
    out += fmt::format("  server CPU {:.2f} s  requests per server-CPU-second {:.0f}", total, answers / total);
  if (slo_us_ > 0) out += fmt::format("  in time {:.0f}/s", static_cast<double>(in_time_) / run.seconds);
  for (auto& [status, latencies] : latencies_us_) {
    std::sort(latencies.begin(), latencies.end());
    out += fmt::format("\nstatus {}  {}  latency us  p50 {:.0f}  p90 {:.0f}  p99 {:.0f}  p99.9 {:.0f}  max {:.0f}",
                       status, latencies.size(), quantile(latencies, 0.5), quantile(latencies, 0.9),
                       quantile(latencies, 0.99), quantile(latencies, 0.999), quantile(latencies, 1));
  }
  return out;
}

std::string LoadFigures::json(const Run& run) {
  std::string statuses;
  for (auto& [status, latencies] : latencies_us_) {
    std::sort(latencies.begin(), latencies.end());
    statuses += fmt::format(
        R"({}"{}":{{"count":{},"p50_us":{:.1f},"p90_us":{:.1f},"p99_us":{:.1f},"p999_us":{:.1f},"max_us":{:.1f}}})",
        statuses.empty() ? "" : ",", status, latencies.size(), quantile(latencies, 0.5), quantile(latencies, 0.9),
        quantile(latencies, 0.99), quantile(latencies, 0.999), quantile(latencies, 1));
  }
  return fmt::format(
      R"({{"requests":{},"seconds":{:.4f},"in_time":{},"unanswered":{},"connections":{},"client_cpu_s":{:.3f},"server_cpu_s":[{:.2f}],"statuses":{{{}}}}})",
      count(), run.seconds, in_time_, run.unanswered, run.connections, run.client_cpu, fmt::join(run.server_cpu, ","),
      statuses);
}

}  // namespace sluice::bench
