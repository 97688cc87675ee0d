// Triton ensembles (config.pbtxt, read by pbtxt_reader.h) to drafts: steps become stages, tensor names become wiring.
// docs/triton.md says what every field becomes. Cycles, and names against declared ports, are checked by build().
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "spec/draft.h"

namespace sluice::spec {

struct TritonSource {
  std::string file;
  std::string name;                           // used where the document has none: that of its folder
  std::span<const FunctionDraft> known = {};  // functions steps may run; the first of a name counts
};

struct TritonEnsemble {
  ApplicationDraft draft;             // with the known functions its steps use, and an emulated one for every other
  std::vector<Port> inputs, outputs;  // as declared: what a request brings and gets
};

// The ensemble, or nothing with every reason in `out`.
[[nodiscard]] std::optional<TritonEnsemble> read_triton(const Node& document, const TritonSource& source,
                                                        Diagnostics& out);

// The models an ensemble's steps name, in order of first mention, so that the caller can load them before it reads the
// ensemble; empty if the document is no ensemble. Reports nothing.
[[nodiscard]] std::vector<std::string> triton_models(const Node& document);

// The configuration of one model: an emulated function, as Sluice runs no Triton backend, with its inputs and outputs
// declared if it batches and none is optional. Everything else in it is left alone. Nothing, with the reasons in `out`,
// if it is broken or an ensemble.
[[nodiscard]] std::optional<FunctionDraft> read_triton_model(const Node& document, const TritonSource& source,
                                                             Diagnostics& out);

}  // namespace sluice::spec
