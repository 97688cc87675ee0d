// Load on an HTTP server: http_load --port P [--target T] [--rate R] … (see usage below). Prints rate, CPU time, and
// latencies by status; --json the same as one line. The loop is in load_loop.h.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "bench/load_loop.h"

namespace {

using sluice::bench::LoadLoop;
using sluice::bench::LoadOptions;

std::string file_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool parse(int argc, char** argv, LoadOptions& o) {
  const auto count = [](const char* v) { return static_cast<std::size_t>(std::max(1, std::atoi(v))); };
  const std::map<std::string, std::function<void(const char*)>> with_value = {
      {"--host", [&](const char* v) { o.host = v; }},
      {"--port", [&](const char* v) { o.port = static_cast<std::uint16_t>(std::atoi(v)); }},
      {"--target", [&](const char* v) { o.target = v; }},
      {"--body", [&](const char* v) { o.body = file_text(v); }},
      {"--text", [&](const char* v) { o.body = v; }},
      {"--header", [&](const char* v) { o.headers += std::string(v) + "\r\n"; }},
      {"--connections", [&](const char* v) { o.connections = count(v); }},
      {"--connections-max", [&](const char* v) { o.connections_max = count(v); }},
      {"--seconds", [&](const char* v) { o.seconds = std::atof(v); }},
      {"--warmup", [&](const char* v) { o.warmup = std::atof(v); }},
      {"--drain", [&](const char* v) { o.drain = std::atof(v); }},
      {"--rate", [&](const char* v) { o.rate = std::atof(v); }},
      {"--slo-ms", [&](const char* v) { o.slo_ms = std::atof(v); }},
      {"--pid", [&](const char* v) { o.pids.push_back(std::atoi(v)); }}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const auto option = with_value.find(name);
    if (name == "--json") {
      o.json = true;
    } else if (name == "--poisson") {
      o.poisson = true;
    } else if (option != with_value.end() && i + 1 < argc) {
      option->second(argv[++i]);
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  LoadOptions options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: http_load --port P [--host H] [--target T] [--body FILE | --text TEXT] [--header 'K: V']\n"
                 "  [--connections C] [--seconds S] [--warmup S] [--slo-ms MS] [--pid PID]... [--json]\n"
                 "  open loop: --rate R [--poisson] [--connections-max C] [--drain S]\n");
    return 2;
  }
  return LoadLoop(options).run() ? 0 : 1;
}
