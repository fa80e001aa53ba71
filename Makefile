# make, make demo and make test are all that a newcomer needs; the rest are the gates, each also run by .ci/run.

GO       ?= go
FUZZTIME ?= 10s
SOAKTIME ?= 10m
BENCH    ?= .
SUITE    ?= gdb.trace gdb.server

# The part of GDB's own test-suite that is quick and asks the most of tracepoints.
QUICK     = $(addprefix gdb.trace/,actions-changed circ disconnected-tracing passc-dyn qtro report status-stop tfind tsv \
            while-dyn)

# The product is one static binary. Only the race detector needs cgo.
export CGO_ENABLED = 0

.DEFAULT_GOAL := build
.PHONY: build demo test setup check format vet lint generate cross race demo-check bench gdbsuite microbench soak fuzz tdesc-live prove-guard prove-match prove-record prove-replay clean

## For everybody

build: ## build bin/tracewell
	$(GO) build -trimpath -o bin/tracewell ./cmd/tracewell

demo: ## trace the program that ships with tracewell; needs neither gdb nor a compiler
	$(GO) run ./cmd/tracewell demo

test: setup ## run all tests, some of GDB's own included; what they start is built anew, which the cache would not see
	$(GO) test -count=1 ./...
	test/gdbsuite/run --board native-gdbserver $(QUICK) || { \
	    [ $$? = 3 ] && echo "NOT RUN: GDB's own tests, for want of their source package; the reason is above"; }

setup: ## install, or name, the packages that the tests need
	@test/setup

## Gates

check: format vet lint generate cross race demo-check test ## every gate

format: ## is every file as gofmt writes it?
	@files=$$(gofmt -l .); test -z "$$files" || { echo "not formatted:"; echo "$$files"; exit 1; } >&2

vet:
	$(GO) vet ./...

lint: ## staticcheck, at the version that go.mod pins
	$(GO) tool staticcheck ./...

generate: ## does go generate leave the tree as it is?
	@test/generate

cross: ## does everything, the tests included, compile for linux/arm64?
	GOOS=linux GOARCH=arm64 $(GO) build ./...
	GOOS=linux GOARCH=arm64 $(GO) vet ./...

race: setup ## the packages that start goroutines, under the race detector
	CGO_ENABLED=1 $(GO) test -race -timeout 20m $$(test/concurrent)

demo-check: setup ## is the demo program what its source compiles to?
	internal/demo/build --check

## On demand

bench: ## a tracepoint hit beside gdbserver and the bare floor, the first hit in a large program, trace files beside GDB, execution traces beside diff; STRICT=1 to fail when a goal is missed
	@test/setup gdbserver || test/setup
	$(GO) test -run '^$$' -bench . ./internal/bench $(if $(STRICT),-strict)

gdbsuite: ## what is left of GDB's own test-suite to pass; SUITE names other folders or files of it, a quarter of an hour for these
	test/gdbsuite/run $(SUITE)

microbench: ## the packages' own benchmarks, those that match BENCH
	$(GO) test -run '^$$' -bench '$(BENCH)' -skip '^Benchmark(Hit|File|Execution|Replay|Startup|FirstTracepoint)$$' -benchmem ./...

soak: setup ## many threads, tracepoints and clients, GDB's and bare ones, for SOAKTIME; make test has a short one
	$(GO) test -run '^TestSoak' -v -count 1 -timeout 0 ./internal/robust -soak $(SOAKTIME)

tdesc-live: ## the descriptions that QEMU's stubs serve, against a GDB for every architecture; installs QEMU
	@test/setup qemu-system-arm qemu-system-misc qemu-system-ppc qemu-system-x86 || \
	    { echo "NOT RUN: tdesc-live, for want of QEMU; the packages are named above"; exit 1; } >&2
	$(GO) test -count 1 -run '^TestStubs$$' ./internal/tdesctest -live

prove-guard: setup ## recorder and server killed by SIGKILL 300 times at each rate of hits, beside two busy loops: what becomes of the program; half an hour
	$(GO) test -count 1 -timeout 0 -v ./internal/guardtest -kills $(or $(KILLS),75)

prove-match: ## faults of every kind in traces of a million instructions, and every way to write them; some minutes
	$(GO) test ./itrace/match -run 'Million|EndlessLine' -million -v

prove-record: setup ## what is recorded against what GDB prints, in all builds of the corpus; some minutes
	$(GO) test -count 1 -run . -v ./internal/recordtest -whole
	$(GO) test -count 1 -run 'AsGDB' ./symbol/scope -whole
	$(GO) test -count 1 -run 'AttachAndLeave' ./record -visits 100

prove-replay: setup ## GDB forwards and backwards through ten million instructions, every answer compared with the processor that made them
	$(GO) test -count 1 -run '^TestProveExecution$$' -timeout 15m ./target/replay -ten-million -v

fuzz: ## every fuzz target for FUZZTIME each
	@test/fuzz $(FUZZTIME)

clean:
	rm -rf bin
