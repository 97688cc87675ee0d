#include "reproduce/esg_contenders.h"

#include "base/check.h"

namespace sluice::reproduce {
namespace {

constexpr std::array<std::string_view, 5> kPaper{"esg", "infless", "fast-gshare", "orion", "aquatope"};

}  // namespace

std::vector<Contender> contenders(const EsgTwins& twins) {
  return {{"sluice", "sluice", {}},
          {"sluice-hits", "sluice", {{"fair", 0}}},
          {"esg", "esg", {}},
          {"esg-tuned", "esg", twins.tuned.parameters()},
          {"esg-thrifty", "esg", twins.thrifty.parameters()},
          {"infless", "infless", {}},
          {"fast-gshare", "fast-gshare", {}},
          {"orion", "orion", {}},
          {"aquatope", "aquatope", {}},
          {"fifo", "fifo", {}}};
}

Contender contender(std::string_view name, const EsgTwins& twins) {
  for (Contender& c : contenders(twins)) {
    if (c.name == name) return c;
  }
  CHECK_MSG(false, std::string(name));
  return {};
}

std::span<const std::string_view> paper_contenders() {
  return kPaper;
}

std::vector<Trial> trials_of(const std::string& experiment, const std::string& setting, const Contender& contender,
                             const Experiment& set_up, std::uint64_t streams) {
  auto own = std::make_shared<Experiment>(set_up);
  own->parameters = {{contender.scheduler, contender.parameters}};
  std::vector<Trial> out;
  for (std::uint64_t seed = 1; seed <= streams; ++seed) {
    out.push_back({experiment, setting, contender.name, contender.scheduler, own, seed});
  }
  return out;
}

}  // namespace sluice::reproduce
