//go:build linux && amd64

package recordtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"tracewell/internal/test/testtool"
	"tracewell/record/plan"
	"tracewell/symbol"
	"tracewell/tfile"
)

// program is one whose stacks are looked at at random hits.
type program struct {
	path   string
	args   []string
	beside string // a shell script that runs beside it
}

// shares are how much of the stack is collected, how many hits of each program are compared, and how many of all together at least.
var shares = []struct{ bytes, each, all int }{{65535, 2800, 10_000}, {plan.DefaultBacktrace, 1000, 3_500}}

// TestStacksOfPrograms compares the backtraces of random hits in programs as people trace them with those of GDB: a server that is
// stripped, a program with a just-in-time compiler, one of Go, and one of C++ with templates and exceptions. At most one in twenty
// may be cut off, as much of the stack as is collected by default.
func TestStacksOfPrograms(t *testing.T) {
	if !*whole {
		stacksOf(t, redis, randomHits{places: 120, hits: 4, steps: 1, bytes: 65535})
		return
	}
	programs := map[string]func(*testing.T) program{"redis": redis, "node": node, "go": gofmt, "c++": regexes}
	for _, share := range shares {
		t.Run(fmt.Sprintf("%d bytes", share.bytes), func(t *testing.T) {
			total, cut := 0, 0
			for name, prepare := range programs {
				t.Run(name, func(t *testing.T) {
					n := stacksOf(t, prepare, randomHits{places: 2000, hits: 60, most: share.each, bytes: share.bytes})
					total, cut = total+n["whole"]+n["cut off"], cut+n["cut off"]
				})
			}
			if t.Logf("%d stacks, %d cut off", total, cut); total < share.all {
				t.Errorf("%d hits are compared, fewer than %d", total, share.all)
			}
		})
	}
}

// randomHits says where a program is recorded: at so many random functions, at most at so many hits of each and at the steps that
// follow, with so many bytes of the stack; and how many frames are compared, 0 for all.
type randomHits struct{ places, hits, steps, bytes, most int }

// stacksOf compares the backtraces of random hits of a program, and returns how many ended in which way.
func stacksOf(t *testing.T, prepare func(*testing.T) program, hits randomHits) map[string]int {
	t.Helper()
	p, random := prepare(t), rand.New(rand.NewPCG(nextSeed(t), 0))
	at, every := randomFunctions(t, random, p.path, hits.places), 1+random.IntN(20)
	if p.beside != "" {
		beside := testtool.Command(t, "sh", "-c", p.beside)
		if err := beside.Start(); err != nil {
			t.Fatal(err)
		}
		defer beside.Wait()
	}
	s := stacks{program: p.path, described: true}
	s.file = recordedBy(t, stackPlan(t, every, hits.hits, hits.steps, hits.bytes, at...), false, p.path, p.args...)
	recording, err := os.ReadFile(s.file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := tfile.OpenBytes(recording)
	if err != nil {
		t.Fatal(err)
	}
	if n := content.NumFrames(); hits.most > 0 && n > hits.most {
		s.frames = random.Perm(n)[:hits.most]
		slices.Sort(s.frames)
	}
	s.compare(t)
	return s.counts.counts
}

// redis is a server with clients, which end it.
func redis(t *testing.T) program {
	socket := filepath.Join(t.TempDir(), "redis.sock")
	return program{
		path: testtool.Path(t, "redis-server"),
		args: []string{"--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", filepath.Dir(socket)},
		beside: fmt.Sprintf(`while ! %[2]s -s %[1]s ping; do sleep 0.1; done
%[3]s -s %[1]s -n 500 -c 5 -q; %[2]s -s %[1]s eval 'local t = {} for i = 1, 200 do t[i] = redis.call("incr", "k"..i) end return t' 0
%[2]s -s %[1]s sort mylist alpha; %[2]s -s %[1]s info; %[2]s -s %[1]s shutdown nosave`,
			socket, testtool.Path(t, "redis-cli"), testtool.Path(t, "redis-benchmark")),
	}
}

// node runs JavaScript, some of it compiled.
func node(t *testing.T) program {
	return program{path: testtool.Path(t, "node"), args: []string{"-e", `
const words = [...Array(3000).keys()].map(i => "w" + i * 7919 % 1000);
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
console.log(fib(22), words.sort().join().replace(/w(\d)/g, (_, d) => d + d).length, JSON.parse(JSON.stringify(words)).length);`}}
}

// gofmt is a program of Go, which formats sources of its own.
func gofmt(t *testing.T) program {
	path := filepath.Join(t.TempDir(), "gofmt")
	command := testtool.Path(t, "go")
	if output, err := exec.Command(command, "build", "-o", path, "cmd/gofmt").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program{path: path, args: []string{"-l", "-s", "../../../view"}}
}

// regexes is a C++ program in testdata, optimised.
func regexes(t *testing.T) program {
	path := filepath.Join(t.TempDir(), "regexes")
	output, err := testtool.Command(t, "g++", "-std=c++17", "-g", "-O2", "-o", path, "testdata/regexes.cc").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return program{path: path}
}

// simple is the names of functions that need no quotation marks in a location, templates not among them.
var simple = regexp.MustCompile(`^[\w.:]+(\([^<>]*\))?$`)

// fewCopies is the most places that a function may be inlined at: each has a definition in the file.
const fewCopies = 30

// randomFunctions chooses functions of a program.
func randomFunctions(t *testing.T, random *rand.Rand, path string, n int) []string {
	t.Helper()
	p, err := symbol.Open(path, symbol.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	all, err := p.List("*")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, i := range random.Perm(len(all)) {
		l := all[i]
		if len(names) == n || l.Probe != nil || l.Resolver || !simple.MatchString(l.Function) {
			continue
		}
		if at, err := p.Locate(l.Function); err == nil && len(at) <= fewCopies {
			names = append(names, l.Function)
		}
	}
	return names
}
