// Whole documents: twins in other formats, round trips, and hostile input.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "domain/limits.h"
#include "spec/load.h"
#include "spec/yaml/write_yaml.h"

namespace sluice::spec {
namespace {

// Reads from memory instead of the disk.
ReadFile files(std::map<std::string, std::string> content) {
  return [content = std::move(content)](const std::string& path) -> Result<std::string> {
    const auto it = content.find(path);
    if (it == content.end()) return Error{ErrorCode::not_found, "there is no file " + path};
    return it->second;
  };
}

Application application(const std::string& path, const ReadFile& read = read_from_disk) {
  const Loaded loaded = load(path, read);
  std::string errors;
  for (const Diagnostic& d : loaded.diagnostics.sorted()) errors += to_string(d) + "\n";
  EXPECT_TRUE(loaded.document.has_value()) << errors;
  if (!loaded.document || !std::holds_alternative<Application>(*loaded.document)) return {};
  return std::get<Application>(*loaded.document);
}

std::string first_error(const std::string& text, const std::string& path = "d.yaml") {
  const Loaded loaded = load(path, files({{path, text}}));
  EXPECT_FALSE(loaded.document.has_value());
  const auto diagnostics = loaded.diagnostics.sorted();
  return diagnostics.empty() ? "" : to_string(diagnostics.front());
}

TEST(Documents, TwinsInOtherFormatsAreTheSameApplication) {
  for (const std::string name :
       {"image_classification", "depth_recognition", "background_elimination", "expanded_image_classification"}) {
    EXPECT_EQ(application("examples/esg/" + name + ".yaml"), application("examples/asl/" + name + ".json")) << name;
  }
  EXPECT_EQ(application("examples/asl/photo_archive.yaml"), application("examples/asl/photo_archive.json"));
  EXPECT_EQ(application("examples/triton/describe.yaml"), application("examples/triton/config.pbtxt"));
}

TEST(Documents, EveryExampleSurvivesARoundTrip) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator("examples")) {
    const Loaded loaded = load(entry.path().string());
    if (!loaded.document || !std::holds_alternative<Application>(*loaded.document)) continue;
    const Application& original = std::get<Application>(*loaded.document);
    EXPECT_EQ(application("w.yaml", files({{"w.yaml", write_yaml(original)}})), original) << write_yaml(original);
  }
}

TEST(Documents, SamplesAreJsonBesideTheApplication) {
  const std::string text =
      "application: s\nslo: 1s\nfunctions:\n"
      "  inline: {runtime: python, model: f.py, sample: {x: [[1, .5], [-1e3, 2]], on: [true, false], t: \"1\\n\"}}\n"
      "  file: {runtime: python, model: f.py, inputs: {x: {type: INT64, shape: [-1]}}, sample: s.json}\n"
      "  plain: {runtime: python, model: f.py}\n"
      "workflow: {inline: {}, file: {}, plain: {}}\n";
  const Loaded loaded = load("d.yaml", files({{"d.yaml", text}, {"s.json", "{\"x\": [1, 2]}"}}));
  ASSERT_TRUE(loaded.document.has_value());
  EXPECT_EQ(loaded.samples, (Samples{{"inline", R"({"x":[[1,0.5],[-1000,2]],"on":[true,false],"t":"1\u000a"})"},
                                     {"file", R"({"x":[1,2]})"}}));
}

TEST(Documents, EnvironmentsOfPythonFunctionsSurviveARoundTrip) {
  const std::string text =
      "application: p\nslo: 1s\nfunctions:\n"
      "  both: {runtime: python, model: f.py, python: {venv: /srv/env/, requirements: r.txt}}\n"
      "  packages: {runtime: python, model: f.py, python: {requirements: [numpy]}}\n"
      "workflow: {both: {}, packages: {}}\n";
  const Application read =
      application("d.yaml", files({{"d.yaml", text}, {"r.txt", "# what it needs\nnumpy >= 1.20, < 3\n\nscipy\n"}}));
  EXPECT_EQ(read.functions[0].cpu->command,
            (std::vector<std::string>{"/srv/env/bin/python3", "numpy>=1.20,<3", "scipy"}));
  EXPECT_EQ(read.functions[1].cpu->command, (std::vector<std::string>{"", "numpy"}));
  EXPECT_EQ(application("w.yaml", files({{"w.yaml", write_yaml(read)}})), read) << write_yaml(read);
}

// The warnings of a workflow, of functions that declare nothing.
std::vector<std::string> warnings(const std::string& workflow) {
  const Loaded loaded = load("w.yaml", files({{"w.yaml",
                                               "application: w\nslo: 1s\nfunctions: {f: {runtime: emulated, "
                                               "memory: 1MB, profile: {table: [[1, 1, 0, 1.0, 0.1]]}}}\n"
                                               "workflow:\n" +
                                                   workflow}}));
  std::vector<std::string> out;
  for (const Diagnostic& d : loaded.diagnostics.sorted()) out.push_back(d.field + ": " + d.message);
  EXPECT_TRUE(loaded.document.has_value()) << out.front();
  return out;
}

TEST(Documents, SayWhatAStageMayMissWhereAnotherIsSkipped) {
  const std::string start =
      "  look: {function: f}\n  car: {function: f, after: look, when: {look.kind: car}}\n"
      "  other: {function: f, after: look, when: otherwise}\n";
  const std::string said =
      "workflow.join.inputs: reads 'car', but runs also where 'car' is skipped, and fails there; give it a condition "
      "({car.OUTPUT: present}), or read what is always there";
  EXPECT_EQ(warnings(start + "  join: {function: f, after: [car, other], inputs: {x: car.x}}\n"), std::vector{said});
  // What comes between is skipped with it.
  EXPECT_EQ(warnings(start + "  wash: {function: f, after: car}\n"
                             "  join: {function: f, after: [wash, other], inputs: {x: wash.x}}\n")
                .size(),
            1u);
  // All ways lead through it, or the reader asks, or reads what is always there.
  for (const char* fine : {"  wash: {function: f, after: car, inputs: {x: car.x}}\n",
                           "  a: {function: f, after: car}\n  b: {function: f, after: car}\n"
                           "  wash: {function: f, after: [a, b], inputs: {x: car.x, y: a.x}}\n",
                           "  join: {function: f, after: [car, other], inputs: {x: car.x}, when: {car.x: present}}\n",
                           "  join: {function: f, after: [car, other], inputs: {x: look.x}}\n",
                           "  join: {function: f, after: [car, other]}\n"}) {
    EXPECT_EQ(warnings(start + fine), std::vector<std::string>{}) << fine;
  }
  // An error handler is skipped where there was no error; inside of a foreach likewise.
  EXPECT_EQ(warnings("  try: {function: f, catch: {all: sorry}}\n  sorry: {function: f}\n"
                     "  last: {function: f, after: [try, sorry], inputs: {x: sorry.x}}\n")
                .size(),
            1u);
  EXPECT_EQ(warnings("  each:\n    foreach:\n      over: request.x\n      workflow:\n        a: {function: f}\n"
                     "        b: {function: f, after: a, when: {a.n: '> 1'}}\n"
                     "        c: {function: f, after: [a, b], inputs: {x: b.x}}\n")
                .size(),
            1u);
  EXPECT_EQ(
      warnings("  a: {function: f}\n  b: {function: f}\n"
               "  c: {function: f, after: [a, b], join: any, inputs: {x: a.x}}\n"),
      std::vector<std::string>{"workflow.c.inputs: reads 'a', but `join` lets it start before that one has finished"});
}

// The experiment of an example with another noise.
Loaded with_noise(const std::string& noise) {
  return load("examples/esg/other.yaml", [&](const std::string& path) -> Result<std::string> {
    if (path != "examples/esg/other.yaml") return read_from_disk(path);
    std::string text = *read_from_disk("examples/esg/moderate_heavy.yaml");
    const std::size_t at = text.find("noise:");
    return text.replace(at, text.find('\n', at) - at, "noise: " + noise);
  });
}

TEST(Documents, MachinesMaySlowDownAndRecover) {
  EXPECT_EQ(std::get<Experiment>(*with_noise("{sigma: 0.3, functions: [f, g]}").document).noise,
            (Noise{.sigma = 0.3, .functions = {"f", "g"}}));
  const Loaded loaded = with_noise("{sigma: 0.1, slow: [{at: 20s, factor: 1.6}, {at: 1m, factor: 1}]}");
  ASSERT_TRUE(loaded.document.has_value());
  EXPECT_EQ(std::get<Experiment>(*loaded.document).noise,
            (Noise{.sigma = 0.1, .slow = {{Duration::s(20), 1.6}, {Duration::s(60), 1}}}));
  for (const char* wrong : {"{slow: [{at: 20s, factor: 0.5}]}", "{slow: [{at: 20s}]}", "{slow: [{factor: 2}]}",
                            "{slow: [{at: 20s, factor: 2}, {at: 20s, factor: 1}]}"}) {
    EXPECT_TRUE(with_noise(wrong).diagnostics.has_errors()) << wrong;
  }
}

constexpr const char* kEverything = R"(
application: everything
tenant: acme
slo: {latency: 1.5s, percentile: 95, cost: 0.002, prefer: latency}
prices: {vcpu_hour: 0.05, vgpu_hour: 1.25}
functions:
  read: {runtime: process, command: ["cat", "a file: \"x\""], outputs: {items: {type: BYTES, shape: [-1], bytes: 3MB}, "count:0": {type: INT64, shape: []}, count: {type: INT64, shape: []}, flag: {type: BOOL, shape: []}, name: {type: BYTES, shape: [1]}, size: {type: FP32, shape: [1]}}, cold_start: 250ms}
  see:
    cpu: {runtime: torch, model: models/cpu.pt, precision: bf16, layout: channels_last}
    gpu: {runtime: kernel, model: models/gpu.json}
    memory: 512MiB
    bytes: 147KB
    cold_start: {process: 300ms, host: 20ms, device: 2.5ms}
    profile: {table: [[1, 1, 0, 40, 2, cpu], [1, 1, 2, 6.5, 0.25, h200, 1, 7.75], [8, 2, 2, 11, 1, h200, ~]]}
  say: {runtime: python, model: ../shared/say.py, profile: {model: {exec: 86ms, floor: 0.35, cpu: 0.15, gpu: 0.5, beta: 0.7, gamma: 0.8}, batch: [1, 4], vcpu: [1, 2], vgpu: [1, 7], noise: 0.05}}
workflow:
  read: {retry: {attempts: 0, interval: 2s, backoff: 1.5, max_delay: 9s, on: [States.Timeout, 'odd: name']}, idempotent: false}
  gate: {pass: true, after: read, wait: 20ms}
  see some: {function: see, after: gate, when: {all: [{read.count: '>= 3'}, {any: [{request.kind: '== "3"'}, {not: {read.flag: true}}]}]}, catch: {all: sorry, Odd: sorry}}
  see all: {function: see, after: gate, when: otherwise, foreach: {over: read.items, limit: 4}, configurations: {batch: [1, 8], device: [h200]}}
  each:
    after: [see some, see all]
    join: any
    foreach: {over: read.items, workflow: {say: {}, again: {function: say, after: say, inputs: {x: say.y, z: request.w}, when: {say.y: present}}}}
  last: {function: say, after: [see some, see all, each], join: 2, inputs: {text: each.y}, when: {read.name: 'matches img-*', read.size: '< 0.5'}}
  sorry: {fail: {error: Sorry, cause: "it's broken: really"}}
outputs: {text: last.y, raw: read.items, "n/a.b": "read.count:0"}
)";

TEST(Documents, EveryFieldSurvivesARoundTrip) {
  const Application original = application("e.yaml", files({{"e.yaml", kEverything}}));
  ASSERT_EQ(original.workflow.size(), 7u);
  const Application again = application("w.yaml", files({{"w.yaml", write_yaml(original)}}));
  EXPECT_EQ(again, original) << write_yaml(original);
}

TEST(Documents, TheOrderOfTheDocumentDoesNotMatter) {
  const std::string head = "application: a\nslo: 100ms\nfunctions: {f: {runtime: emulated}, g: {runtime: emulated}}\n";
  const auto one = application(
      "a.yaml",
      files({{"a.yaml",
              head + "workflow: {x: {function: f}, y: {function: g, after: x}, z: {function: f, after: x}}\n"}}));
  const auto other = application(
      "b.yaml",
      files({{"b.yaml",
              head + "workflow: {z: {function: f, after: x}, x: {function: f}, y: {function: g, after: x}}\n"}}));
  EXPECT_EQ(one, other);
}

TEST(Documents, ModelsStayRelativeToTheApplication) {
  const auto app = application(
      "apps/a.yaml", files({{"apps/a.yaml", "application: a\nslo: 1s\nfunctions: [../lib/f.yaml]\nworkflow: {f: {}}\n"},
                            {"lib/f.yaml", "functions: {f: {runtime: torch, model: weights/f.pt}}\n"}}));
  ASSERT_EQ(app.functions.size(), 1u);
  EXPECT_EQ(app.functions[0].cpu->model, "../lib/weights/f.pt");
}

TEST(Documents, AFunctionWithOtherContentIsAnotherVersion) {
  Function f{.name = "f", .cpu = Body{.runtime = Runtime::torch, .model = "a.pt"}};
  Function renamed = f, changed = f;
  renamed.name = "g";
  changed.memory = Bytes::mb(600);
  EXPECT_EQ(version_of(f), version_of(renamed));
  EXPECT_NE(version_of(f), version_of(changed));
}

TEST(Documents, NamesFilesThatIncludeTooMuch) {
  std::string many = "application: a\nslo: 1s\nworkflow: {f: {}}\nfunctions: [";
  for (int i = 0; i < 300; ++i) many += "f.yaml, ";
  const Loaded loaded =
      load("a.yaml", files({{"a.yaml", many + "f.yaml]\n"}, {"f.yaml", "functions: {f: {runtime: emulated}}\n"}}));
  ASSERT_FALSE(loaded.document.has_value());
  EXPECT_NE(to_string(loaded.diagnostics.sorted().front()).find("more than 256 files are named"), std::string::npos);
}

TEST(Documents, ReportsAtMostAHundredErrorsAndCountsAll) {
  std::string text = "application: a\nslo: 1s\nfunctions: {f: {runtime: emulated}}\nworkflow:\n";
  for (int i = 0; i < 5000; ++i) text += "  s" + std::to_string(i) + ": {function: nowhere}\n";
  const Loaded loaded = load("a.yaml", files({{"a.yaml", text}}));
  EXPECT_EQ(loaded.diagnostics.errors(), 5000u);
  EXPECT_EQ(loaded.diagnostics.sorted().size(), limits::errors_reported_max);
}

TEST(Documents, RefusesHostileYaml) {
  EXPECT_NE(first_error("application: a\nslo: &a [*a]\n").find("error"), std::string::npos);
  EXPECT_NE(first_error(std::string(10'000, '[')).find("error"), std::string::npos);
  EXPECT_NE(first_error(std::string(10'000, '{')).find("error"), std::string::npos);
  std::string deep;
  for (int i = 0; i < 3'000; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_NE(first_error(deep).find("error"), std::string::npos);
  EXPECT_NE(first_error("? [a, b]\n: c\n").find("a key must be a single value"), std::string::npos);
  EXPECT_NE(
      first_error("application: a\nslo: {latency: 1e999s}\nfunctions: {}\nworkflow: {}\n").find("is not a duration"),
      std::string::npos);
}

TEST(Documents, ReadsALargeWorkflow) {
  std::string text =
      "application: large\nslo: 10s\nfunctions: {f: {runtime: emulated}}\nworkflow:\n  s0: {function: f}\n";
  for (int i = 1; i < 50'000; ++i)
    text += "  s" + std::to_string(i) + ": {function: f, after: s" + std::to_string(i / 2) + "}\n";
  EXPECT_EQ(application("l.yaml", files({{"l.yaml", text}})).workflow.size(), 50'000u);
}

}  // namespace
}  // namespace sluice::spec
