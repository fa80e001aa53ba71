# make, make demo and make test are all that a newcomer needs; the rest are the gates, each also run by .ci/run.

GO       ?= go
FUZZTIME ?= 10s
SOAKTIME ?= 10m
BENCH    ?= .
PREFIX   ?= /usr/local
SUITE    ?= gdb.trace gdb.server

# The part of GDB's own test-suite that is quick and asks the most of tracepoints.
QUICK     = $(addprefix gdb.trace/,actions-changed circ disconnected-tracing passc-dyn qtro report status-stop tfind tsv \
            while-dyn)

# The packages whose tests are run on other processors, in a virtual machine.
GUEST     = ./internal/sys ./inferior ./ax ./trace ./target/linux/internal/patch

# The live tests that hold there so far.
LIVE      = StopKinds|InjectBesideSleep|ForksLeftInNonStop|LandingPad|ExclusiveSequence|StepFromHardware|StepRangeOver|ExitCode|\
            TracepointHits|TestWatchpoint$$|RunOut|NoThreadLocals|LibrariesOfLinker|FollowChild|KeepBoth|FollowVforkChild|ThreadEvents|\
            TestCatch|StepOutOfVfork|TestAttach$$|TestWrapper
EMPTY    :=

# What goes on beside a command while it runs: the tests of the command line that the race detector has something to say about.
BESIDE    = Live|View|Status|Interrupted|Job|Serve|Terminal|Pipe|Device|Faults|Follow|Script|Growing|Attached|Prints

# Where install puts things.
PLACE     = $(DESTDIR)$(PREFIX)
BASHDIR   = $(PLACE)/share/bash-completion/completions
ZSHDIR    = $(PLACE)/share/zsh/site-functions
FISHDIR   = $(PLACE)/share/fish/vendor_completions.d

# The product is one static binary. Only the race detector needs cgo.
export CGO_ENABLED = 0

.DEFAULT_GOAL := build
.PHONY: build install uninstall demo test setup check format vet lint generate cross race fresh demo-check bench bench-server bench-record gdbsuite measures microbench soak fuzz tdesc-live test-arm64 test-riscv64 prove-guard prove-pads prove-match prove-dialects prove-cluster prove-proxy prove-record prove-replay prove-view view-pictures mutants clean

## For everybody

build: ## build bin/tracewell
	$(GO) build -trimpath -buildvcs=auto -o bin/tracewell ./cmd/tracewell

install: build ## install the program, its manual pages and the completion of bash, zsh and fish below DESTDIR/PREFIX
	install -d $(PLACE)/bin $(BASHDIR) $(ZSHDIR) $(FISHDIR)
	install -m 755 bin/tracewell $(PLACE)/bin/tracewell
	bin/tracewell man $(PLACE)/share/man/man1
	bin/tracewell completion bash > $(BASHDIR)/tracewell
	bin/tracewell completion zsh > $(ZSHDIR)/_tracewell
	bin/tracewell completion fish > $(FISHDIR)/tracewell.fish

uninstall: ## remove what install has installed
	rm -f $(PLACE)/bin/tracewell $(PLACE)/share/man/man1/tracewell.1 $(PLACE)/share/man/man1/tracewell-*.1
	rm -f $(BASHDIR)/tracewell $(ZSHDIR)/_tracewell $(FISHDIR)/tracewell.fish

demo: ## trace the program that ships with tracewell; needs neither gdb nor a compiler
	$(GO) run ./cmd/tracewell demo

test: setup ## run all tests, some of GDB's own included; what they start is built anew, which the cache would not see
	$(GO) test -count=1 -timeout 20m ./...
	test/gdbsuite/run --board native-gdbserver $(QUICK) || { \
	    [ $$? = 3 ] && echo "NOT RUN: GDB's own tests, for want of their source package; the reason is above"; }

setup: ## install, or name, the packages that the tests need
	@test/setup

## Gates

check: format vet lint generate cross demo-check fresh race test ## every gate

format: ## is every file as gofmt writes it?
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; } >&2

vet:
	$(GO) vet ./...

lint: ## staticcheck, at the version that go.mod pins
	$(GO) tool staticcheck ./...

generate: ## does go generate leave the tree as it is?
	@test/generate

cross: ## does everything build for the other systems, and vet, the tests included?
	@test/cross linux/arm64 linux/riscv64 darwin/arm64 windows/amd64

race: setup ## the packages that start goroutines, under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 40m $$(test/concurrent | grep -v /internal/cli)
	CGO_ENABLED=1 $(GO) test -race -timeout 40m -run '$(BESIDE)' $$(test/concurrent | grep /internal/cli)

fresh: ## make demo and make test, of the commit, in a Debian tree that has nothing but Go, git and make; a quarter of an hour
	@test/fresh || { [ $$? = 3 ] && echo "NOT RUN: make fresh; the reason is above"; }

demo-check: setup ## is the demo program what its source compiles to?
	internal/demo/build --check

## On demand

bench: setup ## a tracepoint hit beside gdbserver and the bare floor, one in front of QEMU, a pad beside one by hand, a return beside bpftrace and GDB's finish, the first hit in a large program, trace files beside GDB, execution traces beside diff; STRICT=1 to fail when a goal is missed
	$(GO) test -run '^$$' -bench . -skip '^Benchmark(Server|Record)$$' ./internal/test/bench $(if $(STRICT),-strict)

bench-server: setup ## a Redis server under load with its hot function traced by tracewell, perf and bpftrace, and by none; installs them; a quarter of an hour
	@test/setup redis-server redis-tools linux-perf bpftrace || \
	    { echo "NOT RUN: bench-server, for want of the packages named above"; exit 1; } >&2
	$(GO) test -run '^$$' -bench '^BenchmarkServer$$' -benchtime 1x -timeout 0 ./internal/test/bench $(if $(STRICT),-strict)

bench-record: setup ## counts by key, histograms, frames and return values by record, beside bpftrace, perf, uftrace, strace and ltrace: of a Redis server under load and of a small program; installs them; on a quiet machine half an hour
	@test/setup redis-server redis-tools linux-perf bpftrace strace ltrace uftrace || \
	    { [ -x /usr/bin/redis-server ] || { echo "NOT RUN: bench-record, for want of a Redis server" >&2; exit 1; }; }
	$(GO) test -run '^$$' -bench '^BenchmarkRecord$$' -benchtime 1x -timeout 0 ./internal/test/bench $(if $(STRICT),-strict)

gdbsuite: ## what is left of GDB's own test-suite to pass; SUITE names other folders or files of it, a quarter of an hour for these
	test/gdbsuite/run $(SUITE)

measures: ## the source in figures: lines and comments of each package, functions that call one another, files that handle a wait status
	@$(GO) test -run '^TestMeasures$$' -v -count 1 ./internal/test/house

microbench: ## the packages' own benchmarks, those that match BENCH
	$(GO) test -run '^$$' -bench '$(BENCH)' -skip '^Benchmark(Hit|Pad|File|Execution|Replay|Startup|Line|FirstTracepoint|Server|Record|Proxy|Return)$$' -benchmem ./...

soak: setup ## many threads, tracepoints and clients, GDB's and bare ones, for SOAKTIME, and a writer of trace files killed 1000 times; make test has short ones
	$(GO) test -run '^TestSoak' -v -count 1 -timeout 0 ./internal/test/robust -soak $(SOAKTIME)
	$(GO) test -run '^TestKilledAppender$$' -v -count 1 -timeout 0 ./tfile -kills 1000

tdesc-live: ## the descriptions that QEMU's stubs serve, against a GDB for every architecture; installs QEMU
	@test/setup qemu-system-arm qemu-system-misc qemu-system-ppc qemu-system-x86 || \
	    { echo "NOT RUN: tdesc-live, for want of QEMU; the packages are named above"; exit 1; } >&2
	$(GO) test -count 1 -run '^TestStubs$$' ./internal/test/tdesctest -live

test-arm64 test-riscv64: test-%: ## tests of packages on another processor, in one boot of a virtual machine; installs QEMU and a cross compiler
	@test/vm/setup $*
	test/vm/run $(GUESTFLAGS) $* $(GUEST)
	test/vm/run $(GUESTFLAGS) -r '$(subst $(EMPTY) $(EMPTY),,$(LIVE))' $* ./target/linux

prove-guard: setup ## recorder and server killed by SIGKILL 300 times at each rate of hits, beside two busy loops: what becomes of the program; half an hour
	$(GO) test -count 1 -timeout 0 -v ./internal/test/guardtest -kills $(or $(KILLS),75)

prove-pads: setup ## tracers whose locations are all pads killed by SIGKILL 1000 times (PADS=…), beside two busy loops: the program has to live, and mend to find all frames; programs with a tracepoint on every second instruction; 10^9 hits counted; an hour
	$(GO) test -count 1 -timeout 0 -v -run 'Pads|Mend' ./internal/test/guardtest -pads $(or $(PADS),1000)
	$(GO) test -count 1 -timeout 0 -v ./internal/test/padtest -whole -hits 1000000000

prove-match: ## faults of every kind in traces of a million instructions, and every way to write them; some minutes
	$(GO) test ./itrace/match -run 'Million|EndlessLine' -million -v

prove-dialects: setup ## programs of six processors under QEMU, its plugins, Valgrind, GDB and Bochs: what they write is read, and found equal; installs them; SEED=… for the same ones
	@test/setup qemu-user bochs || \
	    { echo "NOT RUN: prove-dialects, for want of the packages named above"; exit 1; } >&2
	$(GO) test -count 1 -run Live -v ./internal/test/producers -live $(if $(SEED),-seed $(SEED))

prove-cluster: ## the array of jobs of examples/match-slurm on a real Slurm of one node, which this machine becomes in namespaces of its own; installs it
	@test/cluster

prove-record: setup ## what is recorded against what GDB prints, in all builds of the corpus and of random programs; SEED=… for the same ones
	$(GO) test -count 1 -timeout 60m -run . -v ./internal/test/recordtest -whole $(if $(SEED),-seed $(SEED))
	$(GO) test -count 1 -run 'AsGDB' ./symbol/scope -whole
	$(GO) test -count 1 -run 'AttachAndLeave' ./record/local -visits 100

prove-proxy: setup ## stock GDB and record in front of every stub, a Linux kernel, peers that die, a hundred clients, a million hits, GDB's own tests of tracepoints through a proxy; an hour
	$(GO) test -count 1 ./internal/test/firmware -whole
	$(GO) test -count 1 -timeout 30m ./target/remote -seeds 400 -faults 5000 -races 1000
	$(GO) test -count 1 -timeout 30m -run 'Boards|Leave|KilledMachine|OtherBuild' ./record -whole
	$(GO) test -count 1 -timeout 30m -run RecordFirmware ./cmd/tracewell/internal/cli/record -whole
	$(GO) test -count 1 -timeout 90m -v ./internal/test/proxytest -whole
	test/gdbsuite/run --chain --limit 1800 --board native-gdbserver gdb.trace

prove-replay: setup ## GDB forwards and backwards through ten million instructions, every answer compared with the processor that made them
	$(GO) test -count 1 -run '^TestProveExecution$$' -timeout 15m ./target/replay -ten-million -v

prove-view: setup ## the page of a trace of a million frames in a browser: how soon rows are there, and that no task keeps its main thread above 50 ms, by the browser's tracing; FRAMES for another number; three minutes
	$(GO) test -count 1 -timeout 0 -v -run '^TestMillion$$' ./internal/test/webtest -frames $(or $(FRAMES),1000000)

view-pictures: setup ## the pictures of docs/view.md, made anew
	$(GO) test -count 1 -timeout 0 -run 'Pictures$$' ./internal/test/webtest -docs $(CURDIR)/docs/pictures

mutants: ## what the tests of PKG do not notice: COUNT small changes of it, drawn by SEED, one at a time; minutes, as long as its tests take, less those that SKIP matches
	$(GO) run ./test/mutants $(if $(SEED),-seed $(SEED)) $(if $(COUNT),-count $(COUNT)) $(if $(LEAST),-least $(LEAST)) $(if $(SKIP),-skip '$(SKIP)') $(or $(PKG),$(error PKG names the package, as in make mutants PKG=./internal/cexpr))

fuzz: ## every fuzz target for FUZZTIME each
	@test/fuzz $(FUZZTIME)

clean:
	rm -rf bin
