# The two commands are `make run` and `make test`; both install what is missing, build, and work offline afterwards.
.PHONY: help run test build install uninstall bundle setup configure bench bench-plan bench-sim bench-percentile bench-many-models bench-live bench-fidelity soak chaos abuse
.PHONY: determinism fuzz lint format format-check long clean
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 300
ABUSE_SECONDS ?= 600
MANY_MODELS ?= 20
SETUP ?= install
PREFIX ?= /usr/local
DESTDIR ?=
RELEASE := build/release
# The two programs alone: sluice-worker brings its libtorch plug-in along. Tests and benchmarks are built by who runs them.
COMPILE := cmake --build --preset release -j $(JOBS) --target

help:
	@echo "make run          install what is missing, build, and show what Sluice does"
	@echo "make test         install what is missing, build, and run the whole test suite"
	@echo "make build        build sluice and sluice-worker into build/release"
	@echo "make install      build, and install to PREFIX=$(PREFIX) below DESTDIR=$(DESTDIR): programs, unit, completions; make uninstall"
	@echo "make bundle       sluice with its libraries in build/bundle, to run on another Linux without installing anything"
	@echo "make bench        benchmarks of the domain model"
	@echo "make bench-plan   what planning costs: frontier, ESG_1Q, label search, brute force in one table (a minute)"
	@echo "make bench-sim    what a decision costs from 16 to 1,000 invokers, and memory while 10 M requests pass (minutes)"
	@echo "make bench-percentile  hits and dollars of percentiles at three loads (a minute)"
	@echo "make bench-many-models  all schedulers where more models are deployed than GPUs hold, MANY_MODELS=$(MANY_MODELS) random worlds (minutes)"
	@echo "make bench-live   the live platform: requests per CPU-second, added latency, stage hops, overload, cold starts (minutes)"
	@echo "make bench-fidelity  the same workload simulated and live, side by side (a minute)"
	@echo "make soak         random worlds with faults, a thousand seeds after the other, until stopped or one breaks"
	@echo "make chaos        kill workers and the server under load: every accepted request is answered once (a minute)"
	@echo "make abuse        hostile functions beside another tenant, then ABUSE_SECONDS=$(ABUSE_SECONDS) of hostile clients: nobody else may notice"
	@echo "make determinism  build and test with GCC, clang, ASan+UBSan and TSan, and compare their results"
	@echo "make fuzz         every fuzz target for FUZZ_SECONDS=$(FUZZ_SECONDS) each"
	@echo "make long         everything that takes long: test, lint, determinism, fuzz, chaos, abuse (hours)"
	@echo "make lint         clang-tidy and the layout; make format lays the sources out, make format-check only looks"

setup:
	@test "$(SETUP)" = skip || tools/setup.sh build

configure: setup
	@test -f $(RELEASE)/build.ninja || cmake --preset release >/dev/null

build: configure
	@$(COMPILE) sluice sluice-worker

# Where clang-format cannot be installed its test says that it was skipped.
test: configure
	@test "$(SETUP)" = skip || tools/setup.sh test || echo "warning: going on without them" >&2
	@$(COMPILE) all
	@ctest --test-dir $(RELEASE) --output-on-failure -j $(JOBS)

run: build
	@tools/welcome.sh

install: build
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" tools/install.sh install $(RELEASE)

uninstall:
	@PREFIX="$(PREFIX)" DESTDIR="$(DESTDIR)" tools/install.sh uninstall $(RELEASE)

bundle: build
	@tools/bundle.sh $(RELEASE) build/bundle

bench: configure
	@$(COMPILE) bench_domain
	@$(RELEASE)/bench/bench_domain

bench-plan: configure
	@$(COMPILE) bench_plan
	@$(RELEASE)/bench/bench_plan

bench-sim: configure
	@$(COMPILE) bench_sim
	@$(RELEASE)/bench/bench_sim

bench-percentile: configure
	@$(COMPILE) bench_percentile
	@$(RELEASE)/bench/bench_percentile

bench-many-models: configure
	@$(COMPILE) bench_many_models
	@$(RELEASE)/bench/bench_many_models
	@$(RELEASE)/bench/bench_many_models 1 $(MANY_MODELS)

bench-live: configure
	@$(COMPILE) bench_live
	@tools/bench_live.py --build $(RELEASE)

bench-fidelity: configure
	@$(COMPILE) bench_fidelity
	@$(RELEASE)/bench/bench_fidelity

soak: build
	@first=1; while $(RELEASE)/sluice soak --seeds $$first..$$((first + 999)); do first=$$((first + 1000)); done

chaos: build
	@SLUICE=$(RELEASE)/sluice python3 tests/server/chaos.py --requests 400 --seconds 20 --restarts 5

abuse: configure
	@$(COMPILE) sluice sluice-worker hostile_worker
	@SLUICE=$(RELEASE)/sluice python3 tests/server/neighbours.py --judge
	@SLUICE=$(RELEASE)/sluice python3 tests/server/abuse.py --seconds $(ABUSE_SECONDS)

determinism: setup
	@test "$(SETUP)" = skip || tools/setup.sh check
	@tools/determinism.sh $(JOBS)

fuzz:
	@test "$(SETUP)" = skip || tools/setup.sh build check
	@tools/fuzz.sh $(FUZZ_SECONDS) $(JOBS)

# The compile commands of the preset `lint` have every source by itself. clang 14 cannot read libtorch's headers as C++20:
# the sources that include them are left out.
lint: build
	@test -f build/lint/build.ninja || cmake --preset lint >/dev/null
	@test "$(SETUP)" = skip || tools/setup.sh test check
	@$(MAKE) --no-print-directory format-check
	@{ git ls-files 'src/*.cpp' 'apps/*.cpp' ':!src/engine/torch_*.cpp'; echo src/engine/torch_module.cpp; } | xargs -P $(JOBS) -n 4 clang-tidy -p build/lint --quiet

long: test
	@$(MAKE) --no-print-directory lint determinism chaos abuse fuzz

format:
	@git ls-files '*.h' '*.cpp' | xargs clang-format -i

format-check:
	@python3 tools/tidy_format.py

clean:
	@rm -rf build
