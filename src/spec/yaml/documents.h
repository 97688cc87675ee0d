// Readers of our own YAML documents (docs/documents.md): one function per document or part, one file each.
#pragma once
#include <optional>
#include <vector>

#include "spec/cursor.h"
#include "spec/draft.h"
#include "spec/include.h"

namespace sluice::spec {

// `root` is the path of the document a user named; model files are kept relative to its folder.
[[nodiscard]] std::optional<ApplicationDraft> read_application(const Cursor& document, Includes& includes);
[[nodiscard]] std::vector<FunctionDraft> read_functions(const Cursor& functions, const std::string& root,
                                                        Includes& includes);
// A file with a `functions:` mapping.
[[nodiscard]] std::vector<FunctionDraft> read_function_file(const std::string& path, const std::string& root, Mark at,
                                                            const std::string& field, Includes& includes);
[[nodiscard]] Profile read_profile(const Cursor& profile, Includes& includes);
// A JSON object with a value for each input of `function`; empty, with the errors, if it is none.
[[nodiscard]] std::string read_sample(const Cursor& sample, const Function& function, Includes& includes);
// The command of a body of runtime python: the interpreter ("": the server's), then what it has to have installed.
[[nodiscard]] std::vector<std::string> read_python(const Cursor& python, Includes& includes);
[[nodiscard]] WorkflowDraft read_workflow(const Cursor& workflow, std::size_t depth = 1);
[[nodiscard]] std::optional<Prices> read_prices(const Cursor& prices);
[[nodiscard]] std::optional<Cluster> read_cluster(const Cursor& cluster);
[[nodiscard]] std::optional<Experiment> read_experiment(const Cursor& document, Includes& includes);

// The application in the file at `path`, whatever its format.
[[nodiscard]] std::optional<Application> load_application(const std::string& path, const std::string& from, Mark at,
                                                          const std::string& field, Includes& includes);

// A list of small positive numbers, sorted and without duplicates: `batch: [1, 2, 4]`.
[[nodiscard]] std::vector<std::uint16_t> read_counts(const Cursor& list, std::int64_t low, std::int64_t high);

}  // namespace sluice::spec
