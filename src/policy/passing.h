// How inputs come to a batch. `auto`: through shared memory on one machine, directly between two.
#pragma once
#include "domain/commands.h"

namespace sluice::policy {

[[nodiscard]] inline Passing automatic_passing(InvokerId from, InvokerId to) {
  return !from.valid() || from == to ? Passing::shm : Passing::direct;
}

}  // namespace sluice::policy
