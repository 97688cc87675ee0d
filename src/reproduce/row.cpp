#include "reproduce/row.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sluice::reproduce {
namespace {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::string number(const std::optional<double>& value) {
  return value ? str(*value) : "";
}

}  // namespace

std::string_view name_of(Mark mark) {
  switch (mark) {
    case Mark::stated:
      return "stated";
    case Mark::reported:
      return "reported";
    case Mark::our_choice:
      break;
  }
  return "our choice";
}

std::string to_json(std::string_view paper, std::span<const Row> rows) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Row& row : rows) {
    list.push_back({{"experiment", row.experiment},
                    {"setting", row.setting},
                    {"scheduler", row.scheduler},
                    {"metric", row.metric},
                    {"paper", or_null(row.paper)},
                    {"mark", name_of(row.mark)},
                    {"ours", or_null(row.ours)},
                    {"holds", or_null(row.holds)}});
  }
  return nlohmann::ordered_json{{"paper", paper}, {"rows", std::move(list)}}.dump(2);
}

std::string to_csv(std::span<const Row> rows) {
  std::string out = "experiment,setting,scheduler,metric,paper,mark,ours,holds\n";
  for (const Row& row : rows) {
    out += str(row.experiment, ",", row.setting, ",", row.scheduler, ",", row.metric, ",", number(row.paper), ",",
               name_of(row.mark), ",", number(row.ours), ",", row.holds ? (*row.holds ? "yes" : "no") : "", "\n");
  }
  return out;
}

}  // namespace sluice::reproduce
