// What events and commands hold is saved whole: every field of every type takes part.
#include <gtest/gtest.h>

#include "domain/commands.h"
#include "domain/events.h"
#include "support/fields.h"

namespace sluice {
namespace {

template <class T>
class Visit : public ::testing::Test {};

template <class Variant>
struct AsTypes;
template <class... Ts>
struct AsTypes<std::variant<Ts...>> {
  using Types = ::testing::Types<Ts...>;
};

template <class T>
void names_every_field() {
  EXPECT_EQ(visited_count<T>(), field_count<T>());
}

TYPED_TEST_SUITE_P(Visit);
TYPED_TEST_P(Visit, NamesEveryField) {
  names_every_field<TypeParam>();
}
REGISTER_TYPED_TEST_SUITE_P(Visit, NamesEveryField);

using Applications =
    ::testing::Types<Application, Objective, OutputBinding, Workflow, Stage, Join, Foreach, Retry, Catch, InputBinding,
                     Failure, ConfigurationFilter, Condition, Comparison, Reference, Function, Port, Body, ColdStart,
                     Prices, ProfileRow, ProfileTable, ProfileModel, Configuration>;
using Parts = ::testing::Types<NodeGroup, SlicePositions, RunningBatch, InstanceStatus, Verdict, FanOut,
                               InvocationResult, BatchMember, Work, Command, Commands>;
INSTANTIATE_TYPED_TEST_SUITE_P(OfApplications, Visit, Applications);
INSTANTIATE_TYPED_TEST_SUITE_P(OfParts, Visit, Parts);
INSTANTIATE_TYPED_TEST_SUITE_P(OfEvents, Visit, AsTypes<Event>::Types);
INSTANTIATE_TYPED_TEST_SUITE_P(OfCommands, Visit, AsTypes<Action>::Types);

}  // namespace
}  // namespace sluice
