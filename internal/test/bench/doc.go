// Package bench measures, in tables of medians and ratios, what people may have come for.
//
// BenchmarkHit: what a tracepoint hit that stops the thread costs under tracewell serve, under gdbserver, and under the bare floor of package
// floor. Both servers are driven by the real GDB; the program times itself.
//
// BenchmarkPad: what a hit costs the program where a pad collects the frame, beside a pad written by hand and the agent of
// gdbserver; and the wall time of recording beside that of writing the bytes. The program times itself here too.
//
// BenchmarkReturn: what it costs a call that its return is recorded, beside a uretprobe of bpftrace and GDB's finish.
//
// BenchmarkFile: what it takes to index, show, search and write trace files of a million frames, beside GDB on the same
// files and beside reading and writing their bytes.
//
// BenchmarkExecution: what it takes to read and to compare execution traces, beside diff, cmp and finding lines.
//
// BenchmarkReplay: what it takes to index an execution trace of a gigabyte, and how long questions about it take.
//
// BenchmarkStartup: how long it takes to the first hit in a program with more than 100 MB of debugging information, beside a
// breakpoint of GDB.
//
// BenchmarkLine: how long it takes from a hit to its line of record --print in a pipe.
//
// BenchmarkProxy: what a hit costs in front of QEMU's stub, beside the least that packets can do there; and a breakpoint with a
// condition through the proxy, beside one whose condition GDB evaluates.
//
// BenchmarkServer: a server under load, traced by tracewell, perf and bpftrace and by none. It wants packages that other tests
// do not, so only "make bench-server" has it.
//
// BenchmarkRecord: the questions that people put to tracers of functions, answered by tracewell record, bpftrace, perf, uftrace,
// strace and ltrace, as far as these are installed; "make bench-record" has it.
//
// Whatever is compared is measured in one run and in turns, because figures that were taken at different times do not
// compare.
//
//	go test -run '^$' -bench . ./internal/test/bench [-args -rounds N -strict]
//
// It has no product code.
package bench
