# Makefile: the face of meson and ninja, which do the work. `make help` tells what it can do.
#
#   CC=clang               another compiler; its build directory is build-clang
#   SAN=address,undefined  sanitizers; the build directory is build-address-undefined.
#                          Only heurt itself and the unit tests are sanitized: the injected
#                          library and the programs that are recorded must stay plain.

.DEFAULT_GOAL := build
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' $(firstword $(MAKEFILE_LIST)))

PREFIX ?= /usr/local
DESTDIR ?=

comma := ,
ifeq ($(origin CC),default)
compiler :=
else
compiler := $(filter-out cc gcc,$(notdir $(firstword $(CC))))
export CC
endif
suffix := $(if $(compiler),-$(compiler))$(if $(SAN),-$(subst $(comma),-,$(SAN)))
BUILD ?= build$(suffix)
sanitize := $(if $(SAN),-Db_sanitize=$(SAN) $(if $(compiler),-Db_lundef=false))

# What the packages of a target are; see scripts/dependencies.
check_packages := build check $(if $(compiler),develop)

build: configure ## build heurt, its examples and manual pages (in build/)
	@ninja -C $(BUILD) product

configure:
	@command -v meson >/dev/null && command -v ninja >/dev/null || \
		{ echo 'meson or ninja is missing; "make deps" installs what heurt needs.' >&2; exit 1; }
	@test -f $(BUILD)/build.ninja || meson setup $(sanitize) --prefix '$(PREFIX)' $(BUILD)

# What tests and benchmarks need beyond the build.
configure-tests:
	@scripts/dependencies $(check_packages)
	@$(MAKE) --no-print-directory configure
	@scripts/werror $(BUILD)

deps: ## install the Debian packages that all targets need
	@scripts/dependencies build check develop

demo: ## record a program whose threads wait for each other, show the first screen
	@scripts/dependencies build
	@$(MAKE) --no-print-directory build
	@scripts/demo $(BUILD)

test: configure-tests ## the inner loop: unit tests, walls, golden files and quick tests of the commands
	@scripts/run-tests $(BUILD) unit walls golden quick -long

check: configure-tests ## build with -Werror and run all tests but the statistical ones
	@scripts/run-tests $(BUILD) $(SUITES)

check-statistics: configure-tests ## tests that ask how long things took, one by one
	@scripts/run-tests $(BUILD) statistics

check-threads: ## unit tests of what runs on several threads, under ThreadSanitizer
	@$(MAKE) --no-print-directory check SAN=thread SUITES=threads

# What the recorder allocates is filled first, so that nothing is right by chance.
check-recorder: ## the recorder under sanitizers, recording the torture suite and real programs
	@ASAN_OPTIONS=abort_on_error=1:detect_stack_use_after_return=1:max_malloc_fill_size=1048576 \
		$(MAKE) --no-print-directory check SAN=address,undefined SUITES='torture real'

test-numa: ## a machine of four NUMA nodes in QEMU: where memory lies, what is advised, what plans do (ROUNDS=1000)
	@scripts/dependencies build check numa
	@$(MAKE) --no-print-directory configure
	@ninja -C $(BUILD) numa
	@tests/numa/run $(BUILD)

test-numa-daemon: ## likewise: heurt place moves the memory of twelve programs while they run (SECONDS_EACH=12, SHOWN=master, PATTERNS="local fork")
	@scripts/dependencies build check numa
	@$(MAKE) --no-print-directory configure
	@ninja -C $(BUILD) numa
	@tests/numa/run_daemon $(BUILD)

install: build ## install under PREFIX (/usr/local), below DESTDIR if given
	@meson configure $(BUILD) -Dprefix='$(PREFIX)'
	@ninja -C $(BUILD) product
	@DESTDIR='$(DESTDIR)' meson install -C $(BUILD) --no-rebuild

uninstall: ## remove what the last install wrote
	@ninja -C $(BUILD) uninstall

torture: configure-tests ## every function of the torture suite: calls made, calls counted (CASES='deep_* rust')
	@ninja -C $(BUILD) torture-suite
	@$(BUILD)/tests/torture/torture --heurt $(BUILD)/src/cmd/heurt --cases $(BUILD)/tests/torture/cases \
		--awaited tests/torture/awaited --table $(CASES)

# The programs of all benchmarks, each of which is a program of its own.
bench-prepare: configure-tests
	@ninja -C $(BUILD) product meson-benchmark-prereq

fuzz-verbs: build ## damaged traces through every verb and format (CASES=2000 SEED=1 FIRST=0 JOBS=2 TRACES='a b')
	@tests/fuzz/traces "$(BUILD)/src/cmd/heurt" "$(BUILD)/examples" "$(BUILD)/fuzz-traces"
	@tests/fuzz/verbs "$(BUILD)/src/cmd/heurt" $(or $(CASES),2000) $(or $(TRACES),"$(BUILD)"/fuzz-traces/*/)

fuzz-imports: configure-tests ## damaged traces of other tools, imported (CASES=2000 SEED=1 FIRST=0)
	@ninja -C $(BUILD) product tests/tools/damage_imports
	@tests/fuzz/imports "$(abspath $(BUILD))/src/cmd/heurt" "$(abspath $(BUILD))/tests/tools/damage_imports" \
		"$(abspath $(BUILD))/examples" "$(abspath $(BUILD))/fuzz-imports" $(or $(CASES),2000)

fault-injection: configure-tests ## the recorder or the program is killed, the disk full, … at random instants (CASES=500 SEED=1 FIRST=0)
	@ninja -C $(BUILD) product tests/programs/counted
	@tests/fault_injection/inject "$(BUILD)/src/cmd/heurt" "$(BUILD)/tests/programs/counted" $(or $(CASES),500)

transparency: build ## programs of Debian alone and recorded in four ways: what they do is the same (PATTERN='git')
	@tests/transparency/run "$(BUILD)/src/cmd/heurt" $(if $(PATTERN),'$(PATTERN)')

bench: bench-prepare ## run every benchmark
	@meson test -C $(BUILD) --benchmark --verbose

bench-coverage: bench-prepare ## how many functions of large binaries can be instrumented
	@tests/bench/coverage.sh $(BUILD)

bench-access: ## what an access costs that a program counts itself (RUNS=5)
	@ninja -C $(BUILD) product
	@tests/bench/access.sh $(BUILD) $(RUNS)

bench-objects: ## whether samples tell the right objects, against counts of each access (PROGRAMS='rows tree.cc' SOURCE='FILES -- ARGUMENTS' LEVELS=-O2)
	@ninja -C $(BUILD) product
	@tests/truth/sharing/judge_objects.py --verbose $(if $(LEVELS),--levels='$(LEVELS)') $(if $(SOURCE),--source '$(SOURCE)') \
		$(BUILD)/src/cmd/heurt $(BUILD)/src/access/libheurt-access.so $(PROGRAMS)

bench-aggregate: bench-prepare ## what runs without a trace cost: time a call, memory of 10^9 events
	@$(BUILD)/tests/bench/bench-aggregate

readers: ## the viewers that tests open exports in, from npm (they are left out without)
	@npm install --silent --no-audit --no-fund --prefix $(BUILD)/readers speedscope@1.25.0 \
		@firefox-devtools/profiler-cli@0.10.0

bench-cost: bench-prepare ## what recording costs a call, a lock, a mark, a pair of malloc and free (ONLY=heap-1)
	@$(BUILD)/tests/bench/bench-cost $(if $(ONLY),--only $(ONLY))

bench-export: bench-prepare ## how fast exports for viewers are, in what memory, of 10^7 and 10^8 events
	@$(BUILD)/tests/bench/bench-export --most 100

bench-import: configure-tests ## how fast imports are, in what memory, of 10^7 events
	@ninja -C $(BUILD) product
	@tests/bench/imports.py $(BUILD)

bench-induce: bench-prepare ## how much programs suffer from what heurt induce takes, by how they use memory (ROUNDS=5)
	@tests/bench/induce.sh $(BUILD) $(ROUNDS)

bench-kernel: bench-prepare ## what the kernel's records of switches and page faults cost
	@$(BUILD)/tests/bench/bench-kernel

bench-locks: bench-prepare ## how fast the analysis of locks is, in how much memory, of 50 million events
	@$(BUILD)/tests/bench/bench-locks

bench-memory: bench-prepare ## how fast the analysis of memory is, in how much memory, of 4 million samples and allocations
	@$(BUILD)/tests/bench/bench-memory

bench-loops: bench-prepare ## how many of the loops that take the time of programs can be marked
	@tests/bench/loops.sh $(BUILD)

bench-openmp: bench-prepare ## what recording adds to regions, loops, critical sections and tasks of OpenMP
	@tests/bench/openmp.sh $(BUILD)

bench-mpi: bench-prepare ## how long traces of up to 10^4 ranks and 10^8 events take, in what memory (SIZES='1000,1000')
	@tests/bench/mpi.sh $(BUILD) $(SIZES)

bench-micro: bench-prepare ## the experiment that validates the score
	@tests/bench/micro.sh $(BUILD)

bench-compare: bench-prepare ## whether heurt compare finds 5 % more work, and equal programs equal (ROUNDS=20 SECONDS=400)
	@tests/bench/compared.py $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(SECONDS),--seconds $(SECONDS)) $(BUILD)

bench-wakes: bench-prepare ## what the tracepoints that root's recorder opens cost
	@$(BUILD)/tests/bench/bench-wakes

bench-tracers: bench-prepare ## heurt, uftrace, EZTrace and LTTng-UST, side by side
	@$(BUILD)/tests/bench/bench-tracers

bench-pack: bench-prepare ## what packing makes of traces, and how fast it is
	@$(BUILD)/tests/bench/bench-pack

bench-programs: bench-prepare ## what recording costs programs of Debian, and what is told of it, beside perf (PROGRAMS='xz zstd' RUNS=5 SAVE=FILE MEMORY=1)
	@tests/bench/programs.py $(if $(MEMORY),--memory) $(if $(RUNS),--runs $(RUNS)) $(if $(SAVE),--save $(SAVE)) $(BUILD) $(PROGRAMS)

bench-cost-told: bench-programs ## the same table: true and told stand side by side

bench-lives: bench-prepare ## what a thread, a child and a command cost, bare and recorded
	@tests/bench/lives.sh $(BUILD)

bench-prompt: configure-tests ## how long the prompt is kept waiting, of tiny commands and after 10^8 events
	@ninja -C $(BUILD) product
	@tests/bench/prompt.sh $(BUILD)

bench-replay: bench-prepare ## how many operations a second a replay does, and in what memory
	@$(BUILD)/tests/bench/bench-replay

bench-structure: bench-prepare ## how fast loops and sequences are found in 10^8 events, and in what memory
	@$(BUILD)/tests/bench/bench-structure

bench-causes: bench-prepare ## injected causes beside those that heurt finds
	@$(BUILD)/tests/bench/bench-causes

bench-truth-mpi: ## likewise of programs of ranks of MPI, 4 ranks that wait for their work (ONLY='farm order')
	@tests/truth/mpi/judge_mpi.py --device $(BUILD)/src/cmd/heurt $(ONLY)

bench-truth: ## what heurt says of programs whose fault is known, and of their fixed twins (PROGRAMS='lru_cache tree')
	@ninja -C $(BUILD) product
	@tests/truth/judge.py $(BUILD)/src/cmd/heurt $(PROGRAMS)

bench-sharing: ## how often heurt names what shares cache lines, and with GAINS=1 what that costs (PROGRAMS='rows stack' FLAGS=-O0 RUNS=10)
	@ninja -C $(BUILD) product
	@tests/truth/sharing/judge_sharing.py $(if $(FLAGS),--flags='$(FLAGS)') $(if $(RUNS),--runs $(RUNS)) \
		$(if $(GAINS),--gains) $(BUILD)/src/cmd/heurt $(PROGRAMS)

bench-whatif: bench-prepare ## what heurt says that cures gain, beside what they gain
	@$(BUILD)/tests/bench/bench-whatif

bench-choice: bench-prepare ## the functions that heurt chooses, beside what perf says is hot
	@$(BUILD)/tests/bench/bench-choice

bench-budget: bench-prepare ## whether recording stays within --overhead
	@$(BUILD)/tests/bench/bench-budget

format: ## lay out all C files by .clang-format
	@scripts/dependencies develop
	@git ls-files '*.c' '*.h' '*.cc' '*.cpp' | xargs -r clang-format -i

check-format: ## tell which C files .clang-format would change, and which lines of pages are too long
	@scripts/dependencies develop
	@long=0; for page in $$(git ls-files '*.md'); do LC_ALL=C scripts/check-pages "$$page" || long=1; done; exit $$long
	@git ls-files '*.c' '*.h' '*.cc' '*.cpp' | xargs -r clang-format --dry-run --Werror

tidy: configure-tests ## the checks of .clang-tidy, on all of src
	@scripts/dependencies develop
	@git ls-files 'src/*.c' | xargs -P "$$(nproc)" -n 4 clang-tidy -p $(BUILD) --quiet 2>/dev/null

fuzz: ## feed the trace reader invented files for 60 s (FUZZ_SECONDS=60)
	@scripts/dependencies build check develop
	@scripts/fuzz

clean-room: ## the commands of the README on a fresh Debian 12 (root; some minutes)
	@tests/clean-room.sh

clean: ## remove all build directories
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		awk -F'|' '{ printf "%-24s %s\n", $$1, $$2 }'
	@echo 'CC=clang, SAN=address,undefined, BUILD=DIR, PREFIX=DIR, DESTDIR=DIR change how.'
