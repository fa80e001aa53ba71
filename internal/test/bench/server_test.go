//go:build linux && amd64

package bench

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// What BenchmarkServer runs, which "make bench-server" installs.
const (
	redisServer    = "/usr/bin/redis-server"
	redisBenchmark = "/usr/bin/redis-benchmark"
	perf           = "/usr/bin/perf"
	bpftrace       = "/usr/bin/bpftrace"
)

// hotFunction of Redis is called once or more for each request that names a key. Its first argument is the database.
const hotFunction = "lookupKey"

// A tracing is a way to trace the hot function of a running server: with a condition that is never true, or a frame for each call.
type tracing struct {
	name  string
	frame bool
	// command traces the process until it is interrupted.
	command func(s *server) []string
	samples []load
}

// load is what a server bore.
type load struct {
	rate, latency  float64 // requests a second, median in milliseconds
	server, tracer float64 // processor time a request, in microseconds
}

// requests is how many a server is asked each time.
const requests = 100_000

// tracings are measured in turns. None is among them twice: how far these two are apart is what the machine itself does.
func tracings(tracewell string) []*tracing {
	record := func(options ...string) func(s *server) []string {
		return func(s *server) []string {
			return append([]string{tracewell, "record", "-q", "--pid", s.pid(), "-o", s.file("run.tf"), "--at", hotFunction}, options...)
		}
	}
	probed := func(options ...string) func(s *server) []string {
		return func(s *server) []string {
			return append([]string{perf, "record", "-q", "-o", s.file("perf.data"), "-e", "probe_redis:" + hotFunction, "-p", s.pid()},
				options...)
		}
	}
	script := func(text string) func(s *server) []string {
		return func(s *server) []string {
			return []string{bpftrace, "-q", "-p", s.pid(), "-o", s.file("bpf.out"), "-e", "uprobe:" + redisServer + ":" + hotFunction + text}
		}
	}
	return []*tracing{
		{name: "none"},
		{name: "none again"},
		{name: "tracewell, condition false", command: record("--if", "$rdi == 0")},
		{name: "perf, condition false", command: probed("--filter", "db == 0")},
		{name: "bpftrace, condition false", command: script(" /arg0 == 0/ { @++ }")},
		{name: "tracewell, a frame a call", frame: true, command: record("--collect", "$rip, $rdi, $rsi, *(long *)$rsi@2")},
		{name: "perf, an event a call", frame: true, command: probed()},
		{name: "bpftrace, a line a call", frame: true, command: script(` { printf("%lx %lx\n", arg0, arg1) }`)},
	}
}

// server is a Redis that answers on the loopback address.
type server struct {
	*exec.Cmd
	b    *testing.B
	dir  string
	port string
}

func (s *server) pid() string             { return strconv.Itoa(s.Process.Pid) }
func (s *server) file(name string) string { return filepath.Join(s.dir, name) }

// startServer starts a server on a free port, and waits until it answers.
func startServer(b *testing.B) *server {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	listener.Close()
	dir := b.TempDir()
	s := &server{exec.Command(redisServer, "--port", port, "--save", "", "--appendonly", "no", "--dir", dir), b, dir, port}
	if err := s.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		s.Process.Kill()
		s.Wait()
	})
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", "127.0.0.1:"+port); err == nil {
			conn.Close()
			return s
		} else if time.Now().After(end) {
			b.Fatal(err)
		}
	}
}

// bear has the server's own benchmark load it with so many requests, which a process traces unless it is 0.
func (s *server) bear(tracer, requests int) load {
	s.b.Helper()
	server, traced := s.ran(s.Process.Pid), s.ran(tracer)
	out, err := exec.Command(redisBenchmark, "-p", s.port, "-t", "get", "-n", strconv.Itoa(requests), "-c", "20", "--csv").Output()
	server, traced = s.ran(s.Process.Pid)-server, s.ran(tracer)-traced
	if err != nil {
		s.b.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll() // test, rps, avg, min, p50, …
	if err != nil || len(rows) != 2 || len(rows[1]) < 5 {
		s.b.Fatalf("redis-benchmark: %v\n%s", err, out)
	}
	rate, err1 := strconv.ParseFloat(rows[1][1], 64)
	latency, err2 := strconv.ParseFloat(rows[1][4], 64)
	if err := errors.Join(err1, err2); err != nil {
		s.b.Fatal(err)
	}
	each := func(ran time.Duration) float64 { return ran.Seconds() * 1e6 / float64(requests) }
	return load{rate, latency, each(server), each(traced)}
}

// ran is testprog.Ran, and nothing for process 0.
func (s *server) ran(pid int) time.Duration {
	s.b.Helper()
	if pid == 0 {
		return 0
	}
	return testprog.Ran(s.b, pid)
}

// pause is the longest time that the server does not answer while something is done to it. It is asked by one client, one
// question after the other.
func (s *server) pause(during func()) time.Duration {
	s.b.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		s.b.Fatal(err)
	}
	defer conn.Close()
	stop, longest := make(chan struct{}), make(chan time.Duration)
	go func() {
		most, reply := time.Duration(0), make([]byte, 64)
		for {
			select {
			case <-stop:
				longest <- most
				return
			default:
			}
			start := time.Now()
			conn.Write([]byte("PING\r\n"))
			if _, err := conn.Read(reply); err != nil {
				longest <- time.Hour
				return
			}
			most = max(most, time.Since(start))
		}
	}()
	during()
	close(stop)
	return <-longest
}

// watchStops has bpftrace watch the server's main thread, and returns a function that tells how long the stops for a tracer since
// the last call were, in milliseconds. Unlike the time without an answer they do not contain what other work on the machine takes,
// as long as that does not keep the tracer from its processor.
func (s *server) watchStops() (since func() []float64) {
	s.b.Helper()
	const script = `
		tracepoint:sched:sched_switch /args->prev_pid == $1 && (args->prev_state & 8)/ { @since = nsecs; } // TASK_TRACED
		tracepoint:sched:sched_waking /args->pid == $1 && @since/ { printf("%d\n", nsecs - @since); @since = 0; }`
	output := s.file("stops")
	file, err := os.Create(output)
	check(s.b, err)
	defer file.Close()
	cmd := exec.Command(bpftrace, "-q", "-B", "none", "-e", script, s.pid())
	cmd.Stdout = file // what -o writes it keeps to itself until the end
	check(s.b, cmd.Start())
	s.b.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	time.Sleep(4 * time.Second) // nothing says when it is ready
	read := 0
	return func() (stops []float64) {
		time.Sleep(100 * time.Millisecond)
		text, err := os.ReadFile(output)
		check(s.b, err)
		for line := range strings.Lines(string(text[read:])) {
			if ns, err := strconv.ParseFloat(strings.TrimSpace(line), 64); err == nil {
				stops = append(stops, ns/1e6)
			}
		}
		read = len(text)
		return stops
	}
}

// trace starts a tracing, and returns its process, 0 for none, and what ends it.
func (s *server) trace(t *tracing) (pid int, end func()) {
	s.b.Helper()
	if t.command == nil {
		return 0, func() {}
	}
	command := t.command(s)
	cmd := exec.Command(command[0], command[1:]...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		s.b.Fatal(err)
	}
	time.Sleep(1500 * time.Millisecond) // bpftrace has nothing that says when it is ready
	return cmd.Process.Pid, func() {
		// Again and again: bpftrace does not heed one that comes while it starts, which takes long on a busy machine.
		ended := make(chan struct{})
		defer close(ended)
		go func() {
			for {
				cmd.Process.Signal(os.Interrupt)
				select {
				case <-ended:
					return
				case <-time.After(time.Second):
				}
			}
		}()
		if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() > 0 {
			s.b.Errorf("%s: %v\n%s", t.name, err, said.String())
		}
	}
}

// BenchmarkServer: requests a second, the median of what one takes, and the processor time of server and tracer for one, of a Redis
// server whose hot function is traced, beside none, perf and bpftrace; and how long the server stands still while tracewell
// attaches, arms and leaves, under the same load.
func BenchmarkServer(b *testing.B) {
	s := startServer(b)
	probe := fmt.Sprintf("probe_redis:%s=%s db=%%di", hotFunction, hotFunction)
	exec.Command(perf, "probe", "-q", "-d", "probe_redis:*").Run()
	if out, err := exec.Command(perf, "probe", "-q", "-x", redisServer, probe).CombinedOutput(); err != nil {
		b.Fatalf("perf probe: %v\n%s", err, out)
	}
	b.Cleanup(func() { exec.Command(perf, "probe", "-q", "-d", "probe_redis:*").Run() })
	ways := tracings(gdbtest.Binary(b))
	table := &serverTable{ways: ways}
	for b.Loop() {
		for range max(*rounds, 10) {
			for _, i := range rand.Perm(len(ways)) {
				tracer, end := s.trace(ways[i])
				ways[i].samples = append(ways[i].samples, s.bear(tracer, requests))
				end()
			}
		}
		since := s.watchStops()
		for range max(*rounds, 10) {
			wait := func() { time.Sleep(1500 * time.Millisecond) }
			table.unanswered.none = append(table.unanswered.none, s.pause(wait).Seconds()*1e3)
			since()
			table.unanswered.ours = append(table.unanswered.ours, s.pause(func() { _, end := s.trace(ways[2]); end() }).Seconds()*1e3)
			stops := since()
			if len(stops) == 0 {
				b.Error("bpftrace has seen no stop of the server")
			}
			table.longest = append(table.longest, slices.Max(append(stops, 0)))
			table.number = append(table.number, float64(len(stops)))
		}
	}
	reports = append(reports, table)
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
}

// serverTable is what BenchmarkServer finds.
type serverTable struct {
	ways []*tracing
	// longest is the longest stop of each time that the server was attached to, armed and left, in milliseconds, and number how
	// many there were.
	longest, number []float64
	// unanswered is the longest time that a client waited for an answer meanwhile, and in as much time without a tracer.
	unanswered struct{ none, ours []float64 }
}

// relative is the median of a tracing's share of none's requests in the same round.
func (t *serverTable) relative(w *tracing) float64 {
	var shares []float64
	for i, l := range w.samples {
		shares = append(shares, l.rate/t.ways[0].samples[i].rate)
	}
	return median(shares)
}

// missed holds tracewell to 95 % of none where a condition is false, and to more than perf and bpftrace where it is not.
func (t *serverTable) missed() bool {
	own, others := 0.0, 0.0
	for _, w := range t.ways {
		switch share := t.relative(w); {
		case !w.frame:
		case strings.HasPrefix(w.name, "tracewell"):
			own = share
		default:
			others = max(others, share)
		}
	}
	return t.relative(t.ways[2]) < 0.95 || own < others || median(t.longest) > 1
}

func (t *serverTable) String() string {
	var b strings.Builder
	b.WriteString("Redis with a tracepoint on " + hotFunction + "\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "traced by\trequests/s\tof none\tmedian latency\tserver a request\ttracer a request")
	for _, way := range t.ways {
		of := func(figure func(load) float64) float64 {
			var all []float64
			for _, l := range way.samples {
				all = append(all, figure(l))
			}
			return median(all)
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.3f\t%.3f ms\t%.2f µs\t%.2f µs\n", way.name, of(func(l load) float64 { return l.rate }), t.relative(way),
			of(func(l load) float64 { return l.latency }), of(func(l load) float64 { return l.server }), of(func(l load) float64 { return l.tracer }))
	}
	w.Flush()
	fmt.Fprintf(&b, "longest stop while tracewell attaches, arms and leaves: median %.2f ms, at most %.2f ms; of %.0f stops\n",
		median(t.longest), slices.Max(t.longest), median(t.number))
	fmt.Fprintf(&b, "longest time without an answer meanwhile: median %.2f ms, at most %.2f ms; without a tracer %.2f and %.2f ms\n",
		median(t.unanswered.ours), slices.Max(t.unanswered.ours), median(t.unanswered.none), slices.Max(t.unanswered.none))
	return b.String()
}
