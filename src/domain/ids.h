// The ids of the domain. Stage and function ids are positions in their workflow's and application's vectors; the others
// are given out in order and never used again.
#pragma once
#include "base/id.h"

namespace sluice {

using StageId = Id<struct StageTag>;
using FunctionId = Id<struct FunctionTag>;
using ApplicationId = Id<struct ApplicationTag>;
using TenantId = Id<struct TenantTag>;
using InvokerId = Id<struct InvokerTag>;
using InstanceId = Id<struct InstanceTag, std::uint64_t>;
using RequestId = Id<struct RequestTag, std::uint64_t>;
using InvocationId = Id<struct InvocationTag, std::uint64_t>;
using BatchId = Id<struct BatchTag, std::uint64_t>;
using ReservationId = Id<struct ReservationTag, std::uint64_t>;
using CommandId = Id<struct CommandTag, std::uint64_t>;

}  // namespace sluice
