// The functions and applications of ESG's evaluation: examples/esg as the build puts it into the program.
#pragma once
#include <string_view>

namespace sluice::reproduce {

extern const std::string_view kEsgFunctions;
extern const std::string_view kEsgImageClassification;
extern const std::string_view kEsgDepthRecognition;
extern const std::string_view kEsgBackgroundElimination;
extern const std::string_view kEsgExpandedImageClassification;

}  // namespace sluice::reproduce
