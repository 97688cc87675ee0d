// The one way in: a file of any supported format becomes a document of the domain, or all its errors.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "domain/application.h"
#include "domain/cluster.h"
#include "domain/experiment.h"
#include "spec/diagnostics.h"
#include "spec/tree.h"

namespace sluice::spec {

// Gives the content of a file; tests and fuzzers pass their own.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
// Refuses directories, what is larger than limits::document_bytes_max and what cannot be read, and says which.
[[nodiscard]] Result<std::string> read_from_disk(const std::string& path);
// Likewise up to limits::trace_bytes_max.
[[nodiscard]] Result<std::string> read_trace_from_disk(const std::string& path);

enum class Format { yaml, asl, triton };
[[nodiscard]] std::string_view name_of(Format format);

// What functions are tried and measured with, as JSON objects of inputs, by the functions' names. The domain knows
// nothing of it: no decision depends on it.
using Samples = std::map<std::string, std::string, std::less<>>;

struct FunctionList {  // a file that only lists functions
  std::vector<Function> functions;
};
using Document = std::variant<Application, Experiment, Cluster, FunctionList>;

struct Loaded {
  std::string file;
  Format format = Format::yaml;
  std::optional<Document> document;  // nothing exactly if there are errors
  Diagnostics diagnostics;
  Samples samples;
  std::map<std::string, Mark, std::less<>>
      places;  // of the fields of an experiment and what is in them: `workload.file`
  // "experiment.yaml:7:9: workload.file": where a field is, for what is found to be wrong later.
  [[nodiscard]] std::string place(std::string_view field) const;
};

// The format follows from the name: .json and .asl are ASL, .pbtxt is Triton, everything else is ours.
[[nodiscard]] Loaded load(const std::string& path, const ReadFile& read = read_from_disk);

}  // namespace sluice::spec
