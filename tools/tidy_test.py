#!/usr/bin/env python3
"""Plants one fault at a time in a small clean tree and sees that tidy.py names it, and nothing else."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import tidy_format
import tidy_headers
from tidy import check_tree
from tidy_rules import DECIDES, FOLDERS
from tidy_tree import Tree

HEADER = "// What it is.\n#pragma once\n"
CLEAN = {
    "CMakeLists.txt": "add_subdirectory(src)\n",
    "src/base/CMakeLists.txt": "sluice_library(base SOURCES text.cpp)\n",
    "src/base/text.h": HEADER + "#include <string>\nstd::string text();\n",
    "src/base/text.cpp": '#include "base/text.h"\n',
    "src/policy/placement/home.h": HEADER + '#include "base/text.h"\n#include "policy/view.h"\n',
    "src/policy/view.h": HEADER,
    "apps/CMakeLists.txt": "add_executable(sluice sluice.cpp)\nadd_executable(sluice-worker sluice_worker.cpp)\n",
    "apps/sluice.cpp": '#include <CLI/CLI.hpp>\n#include "base/text.h"\nint main() { std::printf("x"); }\n',
    "apps/sluice_worker.cpp": '#include <unistd.h>\n#include "base/text.h"\n',
    "tests/CMakeLists.txt": "sluice_test(base_test SOURCES base/text_test.cpp)\n",
    "tests/support/world.h": "#pragma once\n",
    "tests/base/text_test.cpp": '#include <gtest/gtest.h>\n#include "support/world.h"\n#include "base/text.h"\n',
}


class TidyTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.plant(CLEAN)

    def plant(self, files):
        for path, content in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(content)

    def found(self, files):
        """"path:line rule" of each finding with `files` in the tree; the tree is put back."""
        self.plant(files)
        findings = check_tree(Tree(self.root))
        for path in files:
            (self.root / path).unlink()
            self.plant({path: CLEAN[path]} if path in CLEAN else {})
        return [f"{finding.path}:{finding.line} {finding.rule}" for finding in findings]

    def expect(self, files, *findings):
        with self.subTest(files=files):
            self.assertEqual(self.found(files), list(findings))

    def expect_line(self, folder, line, *rules):
        """`line` in a header of `folder` gives findings of `rules`, all on that line."""
        path = f"src/{folder}/planted.h"
        self.expect({path: f"{HEADER}{line}\n"}, *(f"{path}:3 {rule}" for rule in rules))

    def tidy(self, *options):
        command = [sys.executable, str(Path(__file__).parent / "tidy.py"), str(self.root), *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)


class Includes(TidyTest):
    # Written out here once more, so that a slip in the table of arrows is seen.
    MAY_INCLUDE = {
        "base": "", "domain": "base", "spec": "base domain", "profile": "base domain", "plan": "base domain profile",
        "policy": "base domain profile plan", "core": "base domain profile plan policy",
        "record": "base domain profile plan policy core", "workload": "base domain",
        "sim": "base domain profile plan policy core record workload",
        "reproduce": "base domain spec profile plan policy core record workload sim",
        "data": "base domain", "engine": "base domain data", "wire": "base domain data", "bus": "base domain data wire",
        "invoker": "base domain profile data wire bus engine", "store": "base domain data",
        "live": "base domain spec profile plan policy core record data wire bus engine invoker store",
        "gateway": "base domain spec profile plan policy core record data wire bus engine invoker store live",
        "report": "base domain spec profile plan policy core record workload sim reproduce",
        "client": "base domain data", "log": "base domain data wire", "worker": "base domain data engine wire", "cli": " ".join(FOLDERS - {"cli", "worker"}),
    }

    def test_follow_the_arrows(self):
        self.assertEqual(set(self.MAY_INCLUDE), FOLDERS)
        targets = sorted(FOLDERS)
        for folder, allowed in self.MAY_INCLUDE.items():
            path = f"src/{folder}/planted.h"
            self.expect({path: HEADER + "".join(f'#include "{target}/x.h"\n' for target in targets)},
                        *(f"{path}:{line} include-arrow" for line, target in enumerate(targets, 3)
                          if target not in (folder, *allowed.split())))

    def test_of_the_worker_stay_portable(self):
        self.expect({"apps/sluice_worker.cpp": '#include "engine/a.h"\n#include "wire/a.h"\n#include "spec/a.h"\n'
                     "#include <boost/asio.hpp>\n"},
                    "apps/sluice_worker.cpp:3 include-arrow", "apps/sluice_worker.cpp:4 include-external")

    def test_of_programs_tests_and_benchmarks_are_free(self):
        self.expect({"apps/sluice.cpp": '#include "cli/a.h"\n#include <boost/asio.hpp>\n',
                     "tests/base/text_test.cpp": '#include "sim/a.h"\n#include <Eigen/Dense>\n'})

    def test_have_one_form(self):
        for line in ('"text.h"', '"../base/text.h"', '"base/../base/text.h"', '"yaml-cpp/yaml.h"', '"support/world.h"',
                     "<base/text.h>"):
            self.expect_line("spec", f"#include {line}", "include-form")
        self.expect({"tests/base/text_test.cpp": '#include "world.h"\n'}, "tests/base/text_test.cpp:1 include-form")

    def test_keep_libraries_in_their_places(self):
        for header, wrong, right in (
                ("<yaml-cpp/yaml.h>", "cli", "spec"),
                ("<nlohmann/json.hpp>", "spec live core", "cli report gateway store sim reproduce"),
                ("<CLI/CLI.hpp>", "gateway", "cli"), ("<boost/asio.hpp>", "store cli sim", "gateway live bus invoker client"),
                ("<Eigen/Dense>", "policy live", "plan"), ("<eigen3/Eigen/Dense>", "policy", "plan"),
                ("<fmt/format.h>", "base domain data engine wire", "spec cli"),
                ("<spdlog/spdlog.h>", "core engine live cli", "log"),
                ("<torch/script.h>", "data invoker", "engine"), ("<cuda.h>", "wire live", "engine"),
                ("<cuda_runtime_api.h>", "base bus", "engine"), ("<vector>", "", "base domain data sim cli"),
                ("<sys/mman.h>", "base domain spec core", "data engine wire invoker"),
                *((f"<{name}.h>", "base domain sim", "data engine wire")
                  for name in ("unistd", "fcntl", "dlfcn", "sched", "signal", "poll", "spawn", "linux/futex")),
                *((f"<{name}>", "invoker", "engine") for name in ("ATen/ATen.h", "c10/core/Device.h", "cublas_v2.h",
                                                                   "cudnn.h", "nvrtc.h", "nvml.h", "cuda/atomic")),
                ("<time.h>", "base core data", "cli"), ("<sqlite3.h>", "data record live", "store"),
                ("<openssl/evp.h>", "data live", "store gateway"), ("<png.h>", "gateway sim", "cli")):
            for folder in wrong.split():
                self.expect_line(folder, f"#include {header}", "include-external")
            for folder in right.split():
                self.expect_line(folder, f"#include {header}")

    def test_of_a_source_begin_with_its_own_header(self):
        self.expect({"src/base/text.cpp": '#include <string>\n#include "base/text.h"\n'}, "src/base/text.cpp:1 own-header")
        self.expect({"src/base/text.cpp": '\n#include "base/id.h"\n#include "base/text.h"\n'},
                    "src/base/text.cpp:2 own-header")
        self.expect({"src/base/text.cpp": '// #include <string>\n#include "base/text.h"\n#include <string>\n'})

    def test_close_no_cycle(self):
        self.expect({"src/base/text.h": HEADER + '#include "base/other.h"\n',
                     "src/base/other.h": HEADER + '#include "base/text.h"\n'}, "src/base/text.h:3 include-cycle")
        self.expect({"src/core/a.h": HEADER + '#include "core/b.h"\n', "src/core/b.h": HEADER + '#include "core/c.h"\n',
                     "src/core/c.h": HEADER + '#include "core/a.h"\n'}, "src/core/c.h:3 include-cycle")
        self.expect({"src/plan/a.h": HEADER + '#include "profile/a.h"\n', "src/profile/a.h": HEADER,
                     "src/profile/b.h": HEADER + '#include "plan/b.h"\n', "src/plan/b.h": HEADER},
                    "src/profile/b.h:3 include-arrow", "src/profile/b.h:3 include-cycle")


class Words(TidyTest):
    def test_of_acting_are_forbidden_in_what_decides(self):
        for rule, lines in {
                "clock": ("#include <chrono>", "#include <ctime>", "using namespace std::chrono;",
                          "auto t = time(nullptr);", "auto t = std::time(0);", "auto t = ::time(&now);",
                          "auto t = time( NULL );", "clock_gettime(CLOCK_REALTIME, &t);", "gettimeofday(&t, nullptr);"),
                "sleep": ("std::this_thread::sleep_for(d);", "std::this_thread::sleep_until(t);", "usleep(10);",
                          "nanosleep(&t, nullptr);", "clock_nanosleep(c, 0, &t, 0);", "sleep(1);", "::sleep(1);"),
                "thread": (*(f"#include <{name}>" for name in (
                               "thread", "mutex", "shared_mutex", "atomic", "future", "condition_variable", "latch",
                               "barrier", "semaphore", "stop_token")),
                           *(f"std::{name} x;" for name in (
                               "condition_variable_any", "future<int>", "promise<int>", "latch", "barrier<>",
                               "counting_semaphore<1>")),
                           "auto x = std::async(f);", "std::thread t;", "std::jthread t;", "std::mutex m;",
                           "std::shared_mutex m;", "std::atomic<int> n;", "std::atomic_int n;",
                           "std::unique_lock guard(m);", "std::lock_guard guard(m);", "pthread_create(&t, 0, f, 0);",
                           "thread_local int n;"),
                "random": ("#include <random>", "std::random_device seed;", "int n = rand();", "int n = std::rand ();",
                           "srand(1);"),
                "environment": ('auto home = std::getenv("HOME");', 'auto home = secure_getenv("HOME");'),
                "output": ("std::cout << 1;", "std::cerr << 1;", "std::clog << 1;", 'printf("x");', 'std::printf("x");',
                           'fprintf(stderr, "x");', 'std::fputs("x", stderr);', 'puts("x");', "putchar(c);",
                           'fmt::print("x");')}.items():
            for line in lines:
                self.expect_line("core", line, rule)
        for folder in DECIDES:
            self.expect_line(folder, "std::mutex m;", "thread")

    def test_of_acting_are_free_in_what_acts(self):
        for line in ("#include <chrono>", "std::mutex m;", "usleep(10);", 'auto home = std::getenv("HOME");',
                     "int n = rand();"):
            self.expect_line("live", line)

    def test_that_print_are_for_the_command_line(self):
        for folder in sorted(FOLDERS - {"cli"}):
            self.expect_line(folder, "std::cout << 1;", "output")
            self.expect_line(folder, 'printf("x");', "output")
        self.expect_line("cli", "std::cout << 1;")
        self.expect_line("store", 'std::fprintf(file, "x");')
        self.expect({"src/base/CMakeLists.txt": "text.cpp check.cpp",
                     "src/base/check.cpp": 'std::fprintf(stderr, "x");\n'})

    def test_that_throw_are_forbidden_everywhere(self):
        for folder in sorted(FOLDERS):
            self.expect_line(folder, 'inline void f() { throw "x"; }', "throw")

    def test_that_only_look_alike_are_free(self):
        for line in ("// throw, std::cout, rand(), time(nullptr)", "/* std::mutex m; */ int n;",
                     'auto s = "throw \\" rand()";', 'auto s = R"x(std::cout)" rand() )x";',
                     "auto c = '\"'; // throw \"", "int n = 1'000; // it's a throw", "Duration time(int batch);",
                     "auto t = table.time(0);", "auto t = profile::time(0);", "int n = overtime(0);",
                     "int n = std::snprintf(b, 9, f);", "int n = rng.rand();", "bool thrown = false;",
                     "int operand(int n);", "void asleep();", "int n = worker->sleep(1);"):
            self.expect_line("core", line)
        for line in ("int n = 1'000; throw 'x';", "/* x */ throw 1; // y", 'f("x"); throw "y";'):
            self.expect_line("core", line, "throw")

    def test_may_be_allowed_one_at_a_time_with_a_reason(self):
        self.expect_line("core", "std::mutex m;  // tidy: allow(thread) proven harmless")
        self.expect_line("core", "std::mutex m;  // tidy: allow(thread)", "allowance", "thread")
        self.expect_line("core", "std::mutex m;  // tidy: allow(clock) wrong rule", "allowance", "thread")
        self.expect_line("core", "std::mutex m, n; std::mutex o;  // tidy: allow(thread) proven harmless", "thread")
        self.expect_line("core", "int n;  // tidy: allow(thread) left behind", "allowance")


class HashOrder(TidyTest):
    MAP = "std::unordered_map<Id, std::vector<int>> items;"

    def test_is_never_walked_by_what_decides(self):
        for folder in ("profile", "plan", "policy", "core", "sim"):
            self.expect_line(folder, f"{self.MAP} for (auto& [id, item] : items) f();", "unordered")
        for line in ("for (std::pair<Id, int> x : state->items) f();", "auto i = items.begin();",
                     "auto i = items.cbegin();", "auto i = std::begin(items);", "for (auto& x : at(1).items) f();",
                     "for (auto& x : items | std::views::keys) f();"):
            self.expect_line("core", f"{self.MAP} {line}", "unordered")
        self.expect_line("core", "using Index = std::unordered_set<Id>; const Index& index; for (Id id : index) f();",
                         "unordered")
        self.expect_line("core", "const std::unordered_set<Id>& ids(); for (Id id : ids()) f();", "unordered")

    def test_is_found_through_the_header_of_a_source(self):
        self.expect({"src/core/CMakeLists.txt": "a.cpp", "src/core/a.h": f"{HEADER}{self.MAP}\n",
                     "src/core/a.cpp": "\nfor (auto& [id, item] : items) f();\n"}, "src/core/a.cpp:2 unordered")

    def test_does_not_matter_elsewhere(self):
        self.expect_line("live", f"{self.MAP} for (auto& item : items) f();")
        for line in ("auto i = items.find(3);", "for (auto& x : others) f(items);",
                     "for (auto& x : sorted(items)) f();", "for (int i = 0; i < 3; ++i) f(items);",
                     "for (auto& x : items_by_id) f();"):
            self.expect_line("core", f"{self.MAP} {line}")


class Files(TidyTest):
    def test_are_listed_for_the_build(self):
        for path in ("src/base/lost.cpp", "apps/lost.cpp", "tests/base/lost.cpp", "bench/lost.cpp"):
            self.expect({path: "int n;\n"}, f"{path}:1 unlisted")
        self.expect({"src/base/CMakeLists.txt": "# text.cpp\nxtext.cpp text.cpp.in base/text.cpp\n"},
                    "src/base/text.cpp:1 unlisted")

    def test_that_are_headers_say_what_they_are(self):
        self.expect({"src/base/text.h": "#pragma once\n"}, "src/base/text.h:1 header-form")
        self.expect({"src/base/text.h": "// What it is.\n// #pragma once\n"}, "src/base/text.h:1 header-form")

    def test_live_in_known_and_well_named_folders(self):
        self.expect({"src/cleverness/a.h": HEADER + '#include "base/text.h"\n'}, "src/cleverness/a.h:1 folder-unknown")
        self.expect({"src/a.h": HEADER}, "src/a.h:1 folder-unknown")
        for name in ("util", "misc", "common", "internal"):
            self.expect({f"src/base/{name}/a.h": HEADER}, f"src/base/{name}:1 folder-name")
            (self.root / f"src/base/{name}").rmdir()

    def test_are_finished(self):
        for word in ("TODO", "FIXME", "XXX", "HACK"):
            for path in ("src/base/text.cpp", "apps/sluice.cpp", "tests/base/text_test.cpp", "tools/a.sh"):
                self.expect({path: f"\n// {word}: later\n"}, f"{path}:2 unfinished")
        self.expect({"tools/a.sh": "mktemp -d XXXXXX\n", "docs/a.md": "A HACK of history.\n"})

    def test_name_no_folder_of_one_machine(self):
        for text in ("cd /work/main\n", 'path = "/root/x"\n', "file:///home/me/x\n"):
            self.expect({"docs/a.md": f"\n{text}"}, "docs/a.md:2 path")
        self.expect({"docs/a.md": "https://sluice.org/home/ ./work/ $HOME/work/x web/root/x\n"})

    def test_name_no_folder_outside_the_repository(self):
        for text in ('std::string data = "../shared";', 'auto p = path(SLUICE_SOURCE_DIR) / ".." / "data";',
                     "set(DATA ${CMAKE_SOURCE_DIR}/../data)"):
            self.expect({"tests/base/text_test.cpp": f"\n{text}\n"}, "tests/base/text_test.cpp:2 path")
        self.expect({"tests/base/text_test.cpp": 'load("../f.yaml"); auto p = path(SLUICE_SOURCE_DIR) / "docs";\n'})

    def test_may_be_binary(self):
        (self.root / "model.pt").write_bytes(b"\xff\xfe/root/\x00")
        self.expect({})

    def test_that_git_ignores_do_not_count(self):
        if subprocess.run(["git", "init", "-q", self.root], capture_output=True, check=False).returncode != 0:
            self.skipTest("no git")
        self.expect({".gitignore": "/out/\n", "out/a.md": "/root/x\n", "kept.md": "/root/x\n"}, "kept.md:1 path")


class Sizes(TidyTest):
    def warnings(self, files):
        self.plant(files)
        return [str(finding).split("\n", maxsplit=1)[0] for finding in check_tree(Tree(self.root))]

    def test_of_files_only_warn(self):
        self.assertEqual(self.warnings({"src/base/text.cpp": "\n" * 500, "src/base/text.h": HEADER + "\n" * 198}), [])
        self.assertEqual(self.warnings({"src/base/text.cpp": "\n" * 501, "src/base/text.h": HEADER + "\n" * 199}),
                         ["src/base/text.cpp:1: warning: size: 501 lines, more than 500",
                          "src/base/text.h:1: warning: size: 201 lines, more than 200"])
        self.assertEqual(self.tidy().returncode, 0)

    def test_of_functions_only_warn(self):
        body = " {\n" + "  if (x) { f(); }\n" * 69 + "}\n"
        for head in ("int f(int x) const", "template <class T> auto f(T x) -> int", "C::C(int x) : x_{x}, y_{x}"):
            code = f"namespace sluice {{\n{head}{body}}}\n"
            self.assertEqual(self.warnings({"src/base/text.cpp": code.replace("  if", "", 1)}),
                             ["src/base/text.cpp:2: warning: size: 71 lines in one function, more than 70"])
            self.assertEqual(self.warnings({"src/base/text.cpp": code.replace("  if (x) { f(); }\n", "", 1)}), [])
        self.assertEqual(self.warnings({"src/base/text.cpp": "#define OPEN \\\n  {\n" + "int f() {}\n" * 90}), [])
        for head in ("namespace sluice", "struct S", "enum class E", "constexpr Table kTable ="):
            self.assertEqual(self.warnings({"src/base/text.cpp": f"{head} {{\n" + "\n" * 90 + "}\n"}), [])


class InnerFolders(TidyTest):
    def expect_include(self, path, name, *rules):
        listed = {f"{path.rpartition('/')[0]}/CMakeLists.txt": path.rpartition("/")[2], f"src/{name}": HEADER}
        self.expect({**listed, path: f'\n#include "{name}"\n'}, *(f"{path}:2 {rule}" for rule in rules))

    def test_of_formats_know_nothing_of_each_other(self):
        self.expect_include("src/spec/asl/states.cpp", "spec/asl/fields.h")
        self.expect_include("src/spec/load.cpp", "spec/triton/triton.h")
        self.expect_include("src/spec/yaml/profile.cpp", "spec/csv/profile_csv.h")
        self.expect_include("src/spec/yaml/profile.cpp", "spec/cursor.h")
        self.expect_include("src/spec/asl/states.cpp", "spec/yaml/reader.h", "include-inner")
        self.expect_include("src/spec/build.cpp", "spec/asl/fields.h", "include-inner")
        self.expect_include("src/live/deployment.cpp", "spec/yaml/reader.h", "include-inner")

    def test_of_rivals_are_not_for_production(self):
        for path in ("src/plan/rivals/esg_1q.cpp", "src/policy/esg_search.cpp", "src/reproduce/esg.cpp"):
            self.expect_include(path, "plan/rivals/dual_blade.h")
        for path in ("src/plan/frontier.cpp", "src/policy/sluice.cpp", "src/core/books.cpp", "src/live/runner.cpp"):
            self.expect_include(path, "plan/rivals/dual_blade.h", "include-rival")

    def test_of_rivals_are_found_behind_other_headers(self):
        behind = {"src/policy/esg.h": HEADER + '#include "policy/search.h"\n', "src/plan/rivals/esg_1q.h": HEADER,
                  "src/policy/search.h": HEADER + '#include "plan/rivals/esg_1q.h"\n'}
        self.expect({**behind, "src/policy/sluice.h": HEADER + '#include "policy/view.h"\n#include "policy/esg.h"\n'},
                    "src/policy/sluice.h:4 include-rival")


class Classes(TidyTest):
    def expect_count(self, body, *findings):
        self.expect({"src/base/text.h": HEADER + body}, *findings)

    def test_have_few_private_methods(self):
        method = "  void f(int x) const;\n"
        self.expect_count("class C {\n public:\n  C();\n private:\n" + method * 25 + "  int x_ = g();\n};\n")
        for head in ("class C {\n", "class C : public B {\n public:\n private:\n", "template <class T>\nclass C {\n",
                     "struct C {\n private:\n", "class Outer {\n class C {\n"):
            tail = "};\n};\n" if "Outer" in head else "};\n"
            line = 2 + 1 + head.startswith("template") + ("Outer" in head)
            self.expect_count(head + method * 26 + tail, f"src/base/text.h:{line} private-methods")
        allowed = "class C {  // tidy: allow(private-methods) its handlers are one for each event\n"
        self.expect_count(allowed + method * 26 + "};\n")

    def test_count_methods_and_nothing_else(self):
        full = "class C {\n" + "  void f();\n" * 25
        for member in ("int x_ = g();", "std::function<void(int)> f_;", "using F = void(int);", "friend void g(C c) { h(); }",
                       "struct P { void f(); void g() {} };", "enum class E { a, b };", "std::vector<int> v_{g(), h()};",
                       "static constexpr int kMax = max(1, 2);", "alignas(64) int x_;", "public: void g();"):
            self.expect_count(f"{full}  {member}\n}};\n")
        for member in ("int g() { return h(); }", "bool operator()(int x) const;", "C& operator=(const C&) = delete;",
                       "[[nodiscard]] bool operator<(const C& c) const { return a < c.a; }", "explicit C(int x) : x_{x} {}",
                       "template <class T>\n  void g(const std::vector<T>& list);"):
            self.expect_count(f"{full}  {member}\n}};\n", "src/base/text.h:3 private-methods")


class Program(TidyTest):
    def test_passes_a_clean_tree(self):
        result = self.tidy()
        self.assertEqual((result.returncode, result.stdout), (0, f"tidy: {len(CLEAN)} files, 0 errors, 0 warnings\n"))

    def test_fails_on_an_error_and_says_what_would_help(self):
        self.plant({"src/base/text.cpp": "\nint x = rand();\n"})
        result = self.tidy()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout.splitlines(),
                         ["src/base/text.cpp:2: random: `rand(` in base/",
                          "    take an Rng as an argument (base/rng.h)",
                          f"tidy: {len(CLEAN)} files, 1 errors, 0 warnings"])

    def test_prints_json(self):
        self.assertEqual(json.loads(self.tidy("--json").stdout), [])
        self.plant({"src/base/text.cpp": "\nint x = rand();\n"})
        [finding] = json.loads(self.tidy("--json").stdout)
        self.assertEqual((finding["path"], finding["line"], finding["rule"], finding["severity"]),
                         ("src/base/text.cpp", 2, "random", "error"))


class Headers(TidyTest):
    def setUp(self):
        super().setUp()
        self.build = self.root / "build"

    def check(self):
        """The findings, and the headers that were compiled to get them."""
        compiled = []

        def run(command, text=""):
            compiled.extend(text.split()[1:])
            return original(command, text)

        original = tidy_headers.run
        with mock.patch.object(tidy_headers, "run", run):
            findings = tidy_headers.check_headers(Tree(self.root), self.build)
        return [f"{f.path}:{f.line} {f.rule}" for f in findings], sorted(name.strip('"') for name in compiled)

    def test_must_compile_alone(self):
        self.plant({"src/policy/view.h": HEADER + "std::string view();\n"})
        self.assertEqual(self.check()[0], ["src/policy/view.h:3 header-alone"])  # home.h includes <string> before it
        self.plant({"src/policy/placement/home.h": HEADER + '#include "policy/view.h"\n'})
        self.assertEqual(self.check()[0],
                         ["src/policy/placement/home.h:3 header-alone", "src/policy/view.h:3 header-alone"])

    def test_are_left_to_the_source_that_includes_them_first(self):
        self.assertNotIn("base/text.h", self.check()[1])
        self.plant({"src/policy/view.cpp": '#include "policy/view.h"\n'})
        self.assertEqual(tidy_headers.unproven(Tree(self.root)), ["src/policy/placement/home.h"])
        self.plant({"src/policy/view.cpp": '#include <string>\n#include "policy/view.h"\n'})
        self.assertIn("src/policy/view.h", tidy_headers.unproven(Tree(self.root)))

    def test_are_compiled_again_only_if_what_they_read_has_changed(self):
        everything = ["policy/placement/home.h", "policy/view.h"]
        self.assertEqual(self.check(), ([], everything))
        self.assertEqual(self.check(), ([], []))
        self.plant({"src/policy/placement/home.h": HEADER + '#include "base/text.h"\n'})
        self.assertEqual(self.check(), ([], everything[:1]))
        self.plant({"src/base/text.h": HEADER + "int text();\n"})  # read, not itself compiled here
        self.assertEqual(self.check(), ([], everything[:1]))
        self.plant({"src/policy/view.h": HEADER + "viewer view();\n"})
        for _ in range(2):  # a failure is not remembered
            self.assertEqual(self.check(), (["src/policy/view.h:3 header-alone"], everything[1:]))

    def test_see_the_flags_of_their_folder(self):
        self.plant({"src/base/other.h": HEADER + '#include "base/made.h"\n#include <found.h>\nMADE other();\n',
                    "build/made/base/made.h": "", "build/library/found.h": ""})
        command = f"g++ -DMADE=int -I{self.build}/made -isystem {self.build}/library -O2 -c text.cpp"
        entry = {"file": str(self.root.resolve() / "src/base/text.cpp"), "command": command}
        self.plant({"build/compile_commands.json": json.dumps([entry])})
        findings, compiled = self.check()
        self.assertEqual((findings, "base/other.h" in compiled), ([], True))


class Layout(TidyTest):
    def setUp(self):
        super().setUp()
        self.program, reason = tidy_format.clang_format()
        if self.program is None:
            self.skipTest(reason)
        self.plant({".clang-format": "BasedOnStyle: Google\nSortIncludes: Never\n"})

    def layout(self):
        return [f"{f.path}:{f.line} {f.rule}" for f in tidy_format.check_format(Tree(self.root), self.program)]

    def test_is_clang_formats(self):
        self.plant({"apps/sluice.cpp": "int main() {}\n"})
        self.assertEqual(self.layout(), [])
        self.plant({"apps/sluice.cpp": "int main() {}\nint  x;\n", "src/policy/view.h": HEADER + "int view( );\n"})
        self.assertEqual(self.layout(), ["apps/sluice.cpp:2 layout", "src/policy/view.h:3 layout"])


class LayoutWithoutTheProgram(TidyTest):
    def test_is_skipped_and_says_so(self):
        command = [sys.executable, str(Path(__file__).parent / "tidy_format.py"), str(self.root)]
        result = subprocess.run(command, capture_output=True, text=True, check=False, env={"PATH": str(self.root)})
        self.assertEqual(result.returncode, 77)
        self.assertIn("skipped: clang-format is not installed; the layout was not checked", result.stdout)

    def test_takes_no_other_version(self):
        other = self.root / "clang-format"
        other.write_text("#!/bin/sh\necho Debian clang-format version 99.1\n")
        other.chmod(0o755)
        program, reason = tidy_format.clang_format(lambda name: str(other) if name == "clang-format" else None)
        self.assertIsNone(program)
        self.assertIn("clang-format 14 is wanted", reason)


if __name__ == "__main__":
    unittest.main()
