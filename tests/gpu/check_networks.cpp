// Whether networks answer on a GPU what they answer in double precision on a CPU: every way in which a batch can run.
// usage: check_networks WORKER MODELS [limits]; with that the last checks alone, of memory and faults
#include <cmath>

#include "gpu/gpu_worker.h"

using namespace sluice;
using namespace sluice::gpu_test;

namespace {

template <class T>
std::vector<T> read(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
  if (out.empty()) fail(file + " is not there");
  return out;
}

double distance(std::span<const double> right, std::span<const float> seen) {
  if (right.size() != seen.size()) fail("an answer has another size than it should");
  double apart = 0, norm = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    apart += (right[i] - static_cast<double>(seen[i])) * (right[i] - static_cast<double>(seen[i]));
    norm += right[i] * right[i];
  }
  return std::sqrt(apart / norm);
}

const char* text(const GpuForm& form) {
  const char* names[][3] = {{"?", "?", "?"},
                            {"?", "fp32", "fp32, channels last"},
                            {"?", "fp16", "fp16, channels last"},
                            {"?", "bf16", "bf16, channels last"}};
  return names[static_cast<int>(form.precision)][static_cast<int>(form.layout)];
}

bool check(GpuWorker& worker, std::uint32_t function, const Network& network, const std::string& folder, GpuForm form) {
  const auto loaded = worker.load(function, network, form);
  if (!loaded.error.empty()) fail(str(network.name, ": ", loaded.error));
  const auto inputs = read<float>(folder + "/" + network.name + ".input");
  const auto right = read<double>(folder + "/" + network.name + ".answer");
  const std::size_t row = right.size() / 2;
  double worst = 0;
  std::size_t ways = 0, first = 0;
  for (const std::uint64_t slices : {0x1ull, 0x40ull, 0x6ull, 0xfull, 0x7full}) {
    for (const std::uint32_t rows : {1u, 2u}) {
      Caller caller(worker, network, function, rows, slices, 1);
      std::memcpy(caller.inputs().data(), inputs.data(), caller.inputs().size());
      for (int time = 0; time < 3; ++time, ++ways) {  // kernel by kernel, recorded, replayed
        first += caller.call_and_wait().first ? 1 : 0;
        const double apart = distance(std::span(right).first(rows * row), caller.answer());
        if (!(apart <= worst)) worst = apart;  // also what is no number
      }
    }
  }
  const bool good = worst <= 2e-2;
  std::printf("%-20s %-20s %4.0f MB  %zu ways, %zu prepared, worst distance %.2e%s%s\n", network.name.c_str(),
              text(loaded.form), static_cast<double>(loaded.device_memory.count()) / 1e6, ways, first, worst,
              loaded.form.rows_apart ? ", row by row" : "", good ? "" : "  WRONG");
  std::fflush(stdout);
  worker.unload(function);
  return good;
}

// A fault of the device is of the whole process: it has to end, so that a server starts another one.
bool check_fault(const std::string& program, const Network& reads, const Network& other) {
  GpuForm form;
  double fault = 0;
  {
    GpuWorker worker(program, GpuMode::green, 7);
    form = worker.load(0, other).form;
    if (const auto loaded = worker.load(1, reads); !loaded.error.empty()) fail(loaded.error);
    Caller caller(worker, reads, 1, 1, 2, 1);
    caller.call_and_wait();
    auto* values = reinterpret_cast<float*>(caller.inputs().data());
    std::fill_n(values, caller.inputs().size() / sizeof(float), 1e6f);
    fault = now_us();
    caller.call();
    const auto status = worker.ended(10);
    if (status != 1) {
      std::printf("a device fault: WRONG, the worker goes on\n");
      return false;
    }
  }
  GpuWorker next(program, GpuMode::green, 7);
  if (const auto loaded = next.load(0, other, form); !loaded.error.empty()) fail(loaded.error);
  Caller caller(next, other, 0, 1, 1, 1);
  caller.call_and_wait();
  std::printf("a device fault ends the worker; the next one has answered after %.0f ms\n", (now_us() - fault) / 1e3);
  return true;
}

// A function gets what its `memory` says, and another one of its tenant goes on; with more of it the same batch runs.
bool check_memory(const std::string& program, const Network& grows, const Network& other) {
  constexpr std::uint32_t kRows = 8;
  const GpuForm form{Precision::fp16, MemoryLayout::channels_first};
  GpuWorker worker(program, GpuMode::green, 7);
  if (const auto loaded = worker.load(0, other, form, Bytes::gb(1)); !loaded.error.empty()) fail(loaded.error);
  const auto refused = worker.load(1, other, form, Bytes::mb(20));
  std::printf("weights that are larger than `memory`: %s\n", refused.error.c_str());
  if (refused.error.empty()) return false;
  if (const auto loaded = worker.load(2, grows, form, Bytes::gb(1)); !loaded.error.empty()) fail(loaded.error);
  Caller beside(worker, other, 0, 1, 1, 1);
  for (int i = 0; i < 3; ++i) beside.call_and_wait();
  for (int time = 0; time < 3; ++time) {
    Caller caller(worker, grows, 2, kRows, 2, 2);
    caller.call();
    const auto message = worker.next();
    const auto* ran = std::get_if<wire::Ran>(&message);
    if (ran == nullptr || !ran->error.starts_with("OutOfMemory")) {
      std::printf("a batch took more than its `memory`: WRONG %s\n", ran == nullptr ? "" : ran->error.c_str());
      return false;
    }
    if (time == 0) std::printf("activations that are larger than `memory`: %s\n", ran->error.c_str());
    beside.call_and_wait();
  }
  worker.unload(2);
  if (const auto loaded = worker.load(2, grows, form, Bytes::gb(60)); !loaded.error.empty()) fail(loaded.error);
  Caller caller(worker, grows, 2, kRows, 2, 2);
  for (int time = 0; time < 3; ++time) caller.call_and_wait();
  return true;
}

// Outputs that stay on the device: they are read there by other slices, also one row of them beside a row of the
// machine's memory, whichever way a batch runs; what is fetched is the same.
class KeptCheck {
 public:
  KeptCheck(const std::string& program, const Network& network)
      : worker_(program, GpuMode::green, 7), network_(network), row_(network.input_bytes()) {
    const GpuForm exact{Precision::fp32, MemoryLayout::channels_first};
    if (const auto loaded = worker_.load(0, network, exact, Bytes::gb(1)); !loaded.error.empty()) fail(loaded.error);
    inputs_ = *worker_.arena().allocate(kRows * row_);
    auto* values = reinterpret_cast<float*>(inputs_.data());
    for (std::size_t i = 0; i < inputs_.size() / sizeof(float); ++i) values[i] = static_cast<float>(i % 1000);
  }
  // Once kernel by kernel, once recorded, then replayed.
  bool holds() {
    for (int time = 0; time < 4; ++time) {
      const data::Block first = space(), second = space(), third = space();
      const auto kept = run({stacked(inputs_.offset(), wire::kHost)}, 1, first, true);
      if (kept.device != 0) return wrong("it was not kept");
      run({stacked(first.offset(), 0)}, 2, second, false);
      if (!is(second, 0, 4, 3) || !is(second, 1, 4, 3)) return wrong("an answer from what was kept");
      run({row(0, inputs_.offset(), wire::kHost), row(1, first.offset() + row_, 0)}, 4, third, false);
      if (!is(third, 0, 2, 1) || !is(third, 1, 4, 3)) return wrong("an answer from rows that were apart");
      if (is(first, 0, 2, 1)) return wrong("it was copied to the machine all the same");
      worker_.send(wire::Fetch{first.offset()});
      const auto message = worker_.next();
      const auto* fetched = std::get_if<wire::Fetched>(&message);
      if (fetched == nullptr || !fetched->error.empty()) return wrong("it cannot be fetched");
      if (!is(first, 0, 2, 1) || !is(first, 1, 2, 1)) return wrong("what was fetched");
      worker_.send(wire::Release{first.offset()});
    }
    std::printf("outputs that stay on the device are read there, and fetched\n");
    return true;
  }

 private:
  static constexpr std::uint32_t kRows = 2;
  static bool wrong(const char* what) {
    std::printf("outputs that stay on the device: WRONG, %s\n", what);
    return false;
  }
  data::Block space() {
    data::Block out = *worker_.arena().allocate(kRows * row_);
    std::memset(out.data(), 0, out.size());
    return out;
  }
  wire::Placed row(std::int32_t number, std::uint64_t offset, std::int32_t device) const {
    const auto shape = network_.input().shape;
    return {{"x", network_.type, shape}, number, offset, row_, device};
  }
  wire::Placed stacked(std::uint64_t offset, std::int32_t device) const {
    wire::Placed out = row(wire::kAllRows, offset, device);
    out.info.shape.push_front(kRows);
    out.size *= kRows;
    return out;
  }
  wire::Placed run(std::vector<wire::Placed> inputs, std::uint64_t slices, const data::Block& space, bool keep) {
    worker_.send(wire::Run{.batch = ++batch_,
                           .rows = kRows,
                           .positions = {0, slices},
                           .inputs = std::move(inputs),
                           .outputs = {space.offset(), space.size()},
                           .keep = keep});
    const auto message = worker_.next();
    const auto* ran = std::get_if<wire::Ran>(&message);
    if (ran == nullptr || !ran->error.empty()) fail(ran == nullptr ? "no answer" : ran->error);
    return ran->outputs.at(0);
  }
  // Whether a row is that many times the input, and so much more.
  [[nodiscard]] bool is(const data::Block& seen, std::uint32_t number, float times, float more) const {
    const std::size_t count = row_ / sizeof(float);
    const auto* in = reinterpret_cast<const float*>(inputs_.data()) + number * count;
    const auto* out = reinterpret_cast<const float*>(seen.data()) + number * count;
    for (std::size_t i = 0; i < count; ++i) {
      if (out[i] != in[i] * times + more) return false;
    }
    return true;
  }

  GpuWorker worker_;
  const Network& network_;
  std::size_t row_;  // bytes
  data::Block inputs_;
  std::uint64_t batch_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) fail("usage: check_networks WORKER MODELS");
  const std::string folder = argv[2];
  const auto network = [&](const char* name, std::int64_t size, std::vector<std::int64_t> answer) {
    return Network{.name = name, .file = folder + "/" + name + ".pt", .size = size, .answer = std::move(answer)};
  };
  const std::vector<Network> networks = {
      network("resnet50", 224, {1000}),           network("vit_b_16", 224, {1000}),
      network("mobilenet_v3_large", 224, {1000}), network("deeplabv3_resnet50", 384, {21, 384, 384}),
      network("looks", 32, {3 * 32 * 32}),        network("mixes", 32, {3 * 32 * 32})};
  bool good = true;
  for (const GpuMode mode : {GpuMode::green, GpuMode::stream}) {
    if (argc > 3) break;
    GpuWorker worker(argv[1], mode, 7);
    for (std::uint32_t i = 0; i < networks.size(); ++i) good = check(worker, i, networks[i], folder, {}) && good;
    if (mode == GpuMode::stream) continue;
    for (const GpuForm form : {GpuForm{Precision::fp32, MemoryLayout::channels_first},
                               GpuForm{Precision::bf16, MemoryLayout::channels_last}})
      good = check(worker, 9, networks[0], folder, form) && good;
  }
  good = check_memory(argv[1], network("grows", 32, {3 * 32 * 32}), networks[0]) && good;
  good = KeptCheck(argv[1], network("doubles", 512, {3, 512, 512})).holds() && good;
  good = check_fault(argv[1], network("reads", 32, {3 * 32 * 32}), networks[0]) && good;
  std::puts(good ? "ok: all answers are right" : "error: some answers are wrong");
  return good ? 0 : 1;
}
