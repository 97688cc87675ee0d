// Retry and Catch of ASL states.
#pragma once
#include "spec/asl/fields.h"

namespace sluice::spec::asl {

// One retrier becomes the stage's retry; further ones are refused.
void read_retry(Fields& fields, State& state);
// Every error name becomes one catcher, in order.
void read_catch(Fields& fields, State& state);

}  // namespace sluice::spec::asl
