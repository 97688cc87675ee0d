// What it costs to keep an asynchronous request: put and finish with 1 KB, by size of the group that shares a commit,
// and through the writer's thread.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <semaphore>
#include <string>

#include "base/check.h"
#include "store/writer.h"

namespace sluice::store {
namespace {

// A data directory where the program is run: others may be in memory, where commits cost less.
struct World {
  World() { CHECK(::mkdtemp(directory.data()) != nullptr); }
  ~World() { std::filesystem::remove_all(directory); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  [[nodiscard]] Store store(const benchmark::State& state) const {
    return Store::open(directory, {.durability = static_cast<Durability>(state.range(0)), .finished_max = 10'000})
        .value();
  }
  std::string directory = "sluice-bench-XXXXXX";
  std::uint64_t next = 1;
};

const std::string kBytes(1'000, 'x');

Status put(Store& store, std::uint64_t id) {
  return store.put_request(
      {.id = RequestId(id), .application = "photos", .arrival = Time::from_ns(1), .objective = Duration::ms(420)},
      kBytes);
}

Status finish(Store& store, std::uint64_t id) {
  const Answer answer{.state = State::met, .finished = Time::from_ns(static_cast<std::int64_t>(id))};
  return store.finish_request(RequestId(id), answer, kBytes);
}

void accept_in_groups(benchmark::State& state) {
  World world;
  Store store = world.store(state);
  for (auto _ : state) {
    CHECK(store.begin_batch());
    for (std::int64_t i = 0; i < state.range(1); ++i) CHECK(put(store, world.next++));
    CHECK(store.commit());
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

void accept_and_answer_in_groups(benchmark::State& state) {
  World world;
  Store store = world.store(state);
  for (auto _ : state) {
    CHECK(store.begin_batch());
    for (std::int64_t i = 0; i < state.range(1); ++i, ++world.next) {
      CHECK(put(store, world.next));
      CHECK(finish(store, world.next));
    }
    CHECK(store.commit());
  }
  state.SetItemsProcessed(state.iterations() * state.range(1));
}

// As many callers as range(1), each with its next request once the one before is on disk.
void accept_through_writer(benchmark::State& state) {
  World world;
  Writer writer(world.store(state));
  std::counting_semaphore<> room(state.range(1));
  for (auto _ : state) {
    room.acquire();
    writer.post([id = world.next++](Store& store) { return put(store, id); },
                [&](const Status& status) {
                  CHECK(status);
                  room.release();
                });
  }
  writer.stop();
  state.SetItemsProcessed(state.iterations());
}

void durabilities_and_groups(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"power", "group"})->ArgsProduct({{0, 1}, {1, 16, 256}})->UseRealTime();
}

BENCHMARK(accept_in_groups)->Apply(durabilities_and_groups);
BENCHMARK(accept_and_answer_in_groups)->Apply(durabilities_and_groups);
BENCHMARK(accept_through_writer)->Apply(durabilities_and_groups);

}  // namespace
}  // namespace sluice::store

BENCHMARK_MAIN();
