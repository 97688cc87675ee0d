// Foresight: the slices that requests in the system are expected to take next on the machines they are on. A request
// goes on where its objects are, if it can; a machine that is free now but on which running requests are about to need
// more is no good place for another one. Known caveat: the GPUs of a machine count together.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/archive.h"
#include "base/time.h"
#include "domain/ids.h"

namespace sluice::policy {

// From `at` on a request takes so many slices more (fewer, if negative).
struct SliceStep {
  Time at;
  std::int32_t more = 0;
};

class Foresight {
 public:
  // What the request will take on the invoker, by time, in place of what was expected of it before.
  void expect(RequestId request, InvokerId invoker, std::span<const SliceStep> path);
  void forget(RequestId request);

  // The fewest slices that will be free on the invoker after any step before the end of `path`, if the path is taken
  // there as well; it has `free` of them now. Steps that are overdue by more than kLate are taken for not coming.
  [[nodiscard]] std::int32_t least_free(InvokerId invoker, std::int32_t free, Time now,
                                        std::span<const SliceStep> path) const;

  void visit(Archive& a) { a(where_, steps_); }

 private:
  static constexpr Duration kLate = Duration::ms(20);
  struct Expected {
    Time at;
    RequestId request;
    std::int32_t more = 0;
    void visit(Archive& a) { a(at, request, more); }
  };
  std::map<RequestId, InvokerId> where_;
  std::vector<std::vector<Expected>> steps_;  // by invoker; each by time
};

}  // namespace sluice::policy
