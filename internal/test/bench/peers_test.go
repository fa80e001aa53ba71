//go:build linux && amd64

package bench

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

// The questions that people put to a tracer of a function. Not every tool has an answer to each.
const (
	countByKey  = "count by key"
	histogram   = "histogram"
	frameAHit   = "frame a hit"
	returnValue = "return value"
)

// none is the tool of the row that others are compared with: nothing traces.
const none = "none"

// An answer is how a tool answers a question, and what that costs. The tools without a way are listed with the reason.
type answer struct {
	question, tool string
	command        func(on *subject) []string
	why            string // there is none
	samples        []load
}

// subject is a program that is traced: a server that is attached to, or a program that the tool launches.
type subject struct {
	server *server
	binary string // the program that is launched
	words  []string
	dir    string
}

func (on *subject) file(name string) string { return filepath.Join(on.dir, name) }

// lacks is why a tool cannot be measured at all, empty if it can.
func lacks(tool string) string {
	if _, err := os.Stat("/usr/bin/" + tool); err != nil && tool != "tracewell" && tool != none {
		return "not installed"
	}
	return ""
}

// attached are the answers for the hot function of a Redis server, whose second argument leads to the key. strace and ltrace know
// system calls and calls of libraries: they are asked about read, of which there is one for each request as well.
func attached(tracewell string) []*answer {
	record := func(words ...string) func(*subject) []string {
		return func(on *subject) []string {
			return slices.Concat([]string{tracewell, "record", "-q", "--pid", on.server.pid()}, words)
		}
	}
	bpf := func(probe, body string) func(*subject) []string {
		return func(on *subject) []string {
			script := probe + ":" + redisServer + ":" + hotFunction + " { " + body + " }"
			return []string{bpftrace, "-q", "-p", on.server.pid(), "-o", on.file("bpf.out"), "-e", script}
		}
	}
	event := func(name string) func(*subject) []string {
		return func(on *subject) []string {
			return []string{perf, "record", "-q", "-o", on.file("perf.data"), "-e", peerProbes + ":" + name, "-p", on.server.pid()}
		}
	}
	calls := func(tool string, words ...string) func(*subject) []string {
		return func(on *subject) []string {
			return slices.Concat([]string{"/usr/bin/" + tool}, words, []string{"-e", "read", "-o", on.file("calls.out"), "-p", on.server.pid()})
		}
	}
	saved := func(words ...string) func(*subject) []string {
		return func(on *subject) []string { return append(record(words...)(on), "-o", on.file("run.tf")) }
	}
	const launches = "cannot attach to a process"
	return []*answer{
		{tool: none},
		{question: countByKey, tool: "tracewell", command: record("--at", hotFunction, "--count-by", "*(char **)($rsi+8)")},
		{question: countByKey, tool: "bpftrace", command: bpf("uprobe", "@[str(*(uint64 *)(arg1 + 8))] = count()")},
		{question: countByKey, tool: "perf", command: event("key")},
		{question: countByKey, tool: "strace", command: calls("strace", "-c")},
		{question: countByKey, tool: "ltrace", command: calls("ltrace", "-c")},
		{question: countByKey, tool: "uftrace", why: launches},
		{question: histogram, tool: "tracewell", command: record("--at", hotFunction, "--histogram", "(long)$rdx")},
		{question: histogram, tool: "bpftrace", command: bpf("uprobe", "@ = hist(arg2)")},
		{question: frameAHit, tool: "tracewell", command: saved("--at", hotFunction, "--collect", "$rip, $rdi, $rsi, *(long *)$rsi@2")},
		{question: frameAHit, tool: "bpftrace", command: bpf("uprobe", `printf("%lx %lx\n", arg0, arg1)`)},
		{question: frameAHit, tool: "perf", command: event("key")},
		{question: frameAHit, tool: "strace", command: calls("strace")},
		{question: frameAHit, tool: "ltrace", command: calls("ltrace")},
		{question: frameAHit, tool: "uftrace", why: launches},
		{question: returnValue, tool: "tracewell", command: saved("--return="+hotFunction, "--collect", "$rax")},
		{question: returnValue, tool: "bpftrace", command: bpf("uretprobe", `printf("%lx\n", retval)`)},
		{question: returnValue, tool: "perf", command: event("ret__return")},
		{question: returnValue, tool: "strace", command: calls("strace")},
		{question: returnValue, tool: "ltrace", command: calls("ltrace")},
		{question: returnValue, tool: "uftrace", why: launches},
	}
}

// peerProbes is perf's name for the probes that are defined for this benchmark.
const peerProbes = "probe_tracewell"

// definePeerProbes has perf define its probes in the server, until the end.
func definePeerProbes(b *testing.B) {
	if lacks("perf") != "" {
		return
	}
	remove := func() { exec.Command(perf, "probe", "-q", "-d", peerProbes+":*").Run() }
	remove()
	b.Cleanup(remove)
	for _, probe := range []string{"key=" + hotFunction + " key=+0(+8(%si)):string", "ret=" + hotFunction + "%return ret=$retval"} {
		if out, err := exec.Command(perf, "probe", "-q", "-x", redisServer, peerProbes+":"+probe).CombinedOutput(); err != nil {
			b.Fatalf("perf probe: %v\n%s", err, out)
		}
	}
}

// ticking is a program that calls a function, and prints how long a call takes.
const ticking = `
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
__attribute__((noipa)) long tick(long n, char *text) { return n + text[n & 7]; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e9 + t.tv_nsec; }
int main(int argc, char **argv)
{
    long count = atol(argv[1]), sum = 0;
    double start = now();
    for (long n = 0; n < count; n++)
        sum += tick(n, "0123456");
    printf("sum=%ld ns_per_call=%.1f\n", sum, (now() - start) / count);
}
`

// buildTicking compiles the program, as uftrace needs it if asked.
func buildTicking(b *testing.B, flags ...string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "ticking")
	check(b, os.WriteFile(path+".c", []byte(ticking), 0o600))
	words := append([]string{"-O1", "-g", "-o", path, path + ".c"}, flags...)
	if out, err := exec.Command(testtool.Path(b, "gcc"), words...).CombinedOutput(); err != nil {
		b.Fatalf("gcc: %v\n%s", err, out)
	}
	return path
}

// launched are the answers for a program that does nothing but call a function.
func launched(tracewell, uftraced string) []*answer {
	record := func(words ...string) func(*subject) []string {
		return func(on *subject) []string {
			return slices.Concat([]string{tracewell, "record", "-q"}, words, []string{"--", on.binary}, on.words)
		}
	}
	saved := func(words ...string) func(*subject) []string {
		return func(on *subject) []string { return record(append(words, "-o", on.file("run.tf"))...)(on) }
	}
	bpf := func(probe, body string) func(*subject) []string {
		return func(on *subject) []string {
			return []string{bpftrace, "-q", "-o", on.file("bpf.out"), "-e", probe + ":" + on.binary + ":tick { " + body + " }",
				"-c", on.binary + " " + strings.Join(on.words, " ")}
		}
	}
	uftrace := func(words ...string) func(*subject) []string {
		return func(on *subject) []string {
			return slices.Concat([]string{"/usr/bin/uftrace", "record", "--no-libcall", "-d", on.file("uftrace")}, words, []string{uftraced}, on.words)
		}
	}
	ltrace := func(words ...string) func(*subject) []string {
		return func(on *subject) []string {
			return slices.Concat([]string{"/usr/bin/ltrace", "-o", on.file("calls.out"), "-e", "-*", "-x", "tick"}, words, []string{on.binary}, on.words)
		}
	}
	const noCalls = "knows system calls only"
	return []*answer{
		{tool: none, command: func(on *subject) []string { return append([]string{on.binary}, on.words...) }},
		{question: countByKey, tool: "tracewell", command: record("--at", "tick", "--count-by", "n % 16")},
		{question: countByKey, tool: "bpftrace", command: bpf("uprobe", "@[arg0 % 16] = count()")},
		{question: countByKey, tool: "ltrace", command: ltrace("-c")},
		{question: countByKey, tool: "strace", why: noCalls},
		{question: histogram, tool: "tracewell", command: record("--at", "tick", "--histogram", "n")},
		{question: histogram, tool: "bpftrace", command: bpf("uprobe", "@ = hist(arg0)")},
		{question: frameAHit, tool: "tracewell", command: saved("--at", "tick", "--collect", "$args")},
		{question: frameAHit, tool: "bpftrace", command: bpf("uprobe", `printf("%lx %lx\n", arg0, arg1)`)},
		{question: frameAHit, tool: "uftrace", command: uftrace("-A", "tick@arg1,arg2")},
		{question: frameAHit, tool: "ltrace", command: ltrace()},
		{question: frameAHit, tool: "strace", why: noCalls},
		{question: returnValue, tool: "tracewell", command: saved("--return=tick", "--collect", "$return")},
		{question: returnValue, tool: "bpftrace", command: bpf("uretprobe", `printf("%lx\n", retval)`)},
		{question: returnValue, tool: "uftrace", command: uftrace("-R", "tick@retval")},
		{question: returnValue, tool: "ltrace", command: ltrace()},
		{question: returnValue, tool: "strace", why: noCalls},
	}
}

// perCall is what the program says of itself.
var perCall = regexp.MustCompile(`ns_per_call=([0-9.]+)`)

// fewer is how often a tool is hit where the others are so often: the ones that stop the program would take minutes.
func fewer(tool string, others int) int {
	switch tool {
	case "strace":
		return others / 20
	case "ltrace":
		return others / 100
	}
	return others
}

// ticks is how often the function is called.
const ticks = 300_000

// run launches the program under a tool, and returns what a call takes by the program's own clock, in nanoseconds.
func (a *answer) run(b *testing.B, on *subject) float64 {
	b.Helper()
	on.words = []string{strconv.Itoa(fewer(a.tool, ticks))}
	words := a.command(on)
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	m := perCall.FindSubmatch(out)
	if err != nil || m == nil {
		b.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, out)
	}
	ns, err := strconv.ParseFloat(string(m[1]), 64)
	check(b, err)
	return ns
}

// BenchmarkRecord: what it costs to count by key, to make a histogram, to have a frame a hit and to have return values, beside the
// tools that people use for it: of a Redis server that answers GET of 20 clients, and of a program that only calls a function.
func BenchmarkRecord(b *testing.B) {
	program := gdbtest.Binary(b)
	redis := &subject{server: startServer(b)}
	redis.dir = redis.server.dir
	definePeerProbes(b)
	small := &subject{binary: buildTicking(b), dir: b.TempDir()}
	far := &peerTable{title: "Redis GET, 20 clients, " + hotFunction, answers: attached(program)}
	near := &peerTable{title: "a function that is called in a loop", answers: launched(program, buildTicking(b, "-pg")), calls: true}
	for _, a := range append(slices.Clone(far.answers), near.answers...) {
		a.why = cmp.Or(lacks(a.tool), a.why)
	}
	for b.Loop() {
		for range *rounds {
			for _, i := range rand.Perm(len(far.answers)) {
				if a := far.answers[i]; a.why == "" {
					t := &tracing{name: a.tool + ", " + a.question}
					if a.command != nil {
						t.command = func(*server) []string { return a.command(redis) }
					}
					tracer, end := redis.server.trace(t)
					a.samples = append(a.samples, redis.server.bear(tracer, fewer(a.tool, requests)))
					end()
				}
			}
			for _, i := range rand.Perm(len(near.answers)) {
				if a := near.answers[i]; a.why == "" {
					a.samples = append(a.samples, load{server: a.run(b, small) / 1e3})
				}
			}
		}
	}
	reports = append(reports, far, near)
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
}

// peerTable is what the answers cost.
type peerTable struct {
	title   string
	answers []*answer
	calls   bool // the program is timed by its calls, not by requests
}

// of is the median of a figure of an answer.
func (a *answer) of(figure func(load) float64) float64 {
	var all []float64
	for _, l := range a.samples {
		all = append(all, figure(l))
	}
	return median(all)
}

// cost is the processor time of server and tracer for a request, or the time of a call, in microseconds.
func (a *answer) cost() float64 { return a.of(func(l load) float64 { return l.server + l.tracer }) }

// missed holds tracewell to be first in all but return values, which take two locations.
func (t *peerTable) missed() bool {
	return slices.ContainsFunc(t.answers, func(a *answer) bool {
		ours := t.ours(a.question)
		return ours != nil && a.question != returnValue && len(a.samples) > 0 && a.cost() < ours.cost()
	})
}

// ours is tracewell's answer to a question, nil if there is none.
func (t *peerTable) ours(question string) *answer {
	i := slices.IndexFunc(t.answers, func(a *answer) bool { return a.question == question && a.tool == "tracewell" && len(a.samples) > 0 })
	if i < 0 {
		return nil
	}
	return t.answers[i]
}

func (t *peerTable) String() string {
	var b strings.Builder
	b.WriteString(t.title + "\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	if t.calls {
		fmt.Fprintln(w, "question\ttool\ta call\t/ tracewell")
	} else {
		fmt.Fprintln(w, "question\ttool\trequests/s\t/ none\tserver a request\ttracer a request\tboth / tracewell")
	}
	rate := func(l load) float64 { return l.rate }
	for _, a := range t.answers {
		ratio := "-"
		if ours := t.ours(a.question); ours != nil && len(a.samples) > 0 {
			ratio = fmt.Sprintf("%.2f", a.cost()/ours.cost())
		}
		switch {
		case len(a.samples) == 0 && t.calls:
			fmt.Fprintf(w, "%s\t%s\t-\t%s\n", a.question, a.tool, a.why)
		case len(a.samples) == 0:
			fmt.Fprintf(w, "%s\t%s\t-\t-\t-\t-\t%s\n", a.question, a.tool, a.why)
		case t.calls:
			fmt.Fprintf(w, "%s\t%s\t%.1f ns\t%s\n", a.question, a.tool, a.cost()*1e3, ratio)
		default:
			fmt.Fprintf(w, "%s\t%s\t%.0f\t%.3f\t%.2f µs\t%.2f µs\t%s\n", a.question, a.tool, a.of(rate), a.of(rate)/t.answers[0].of(rate),
				a.of(func(l load) float64 { return l.server }), a.of(func(l load) float64 { return l.tracer }), ratio)
		}
	}
	w.Flush()
	return b.String()
}
