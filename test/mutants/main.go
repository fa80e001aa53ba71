//go:build unix

// Command mutants measures the tests of packages: it changes one operator, constant or statement at a time, runs the package's own
// tests, and lists the changes that they do not notice.
//
//	go run ./test/mutants [-seed N] [-count N] [-jobs N] [-least PERCENT] [-skip TESTS] [-timeout FACTOR] PACKAGE...
//
// The changes are drawn at random from all that the operators of operators.go can make of the package; the same seed draws the same
// ones. A mutant is compiled with an overlay in place of the file that it changes, so nothing is written to the tree. One that does
// not compile is replaced by another. A mutant is caught if its tests fail, or run much longer than those of the package as it is.
// Tests that take long, as some that run a GDB do, can be left out by a pattern like that of go test -skip.
//
// The exit status is 1 if fewer are caught than -least asks for, and 2 if the package's tests fail as they are.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// options are what the command line asks for.
type options struct {
	seed   uint64
	count  int           // mutants of each package
	jobs   int           // at the same time
	least  float64       // per cent that must be caught
	skip   string        // a regular expression of tests that are left out
	factor int           // how many times as long as usual tests may run
	spare  time.Duration // and how much longer, for what the machine does besides
}

func main() {
	o := options{spare: 30 * time.Second}
	flag.Uint64Var(&o.seed, "seed", rand.Uint64N(1_000_000), "draw the mutants by this `number`")
	flag.IntVar(&o.count, "count", 150, "`number` of mutants of each package")
	flag.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "`number` of mutants at the same time")
	flag.Float64Var(&o.least, "least", 0, "fail if fewer `percent` are caught")
	flag.StringVar(&o.skip, "skip", "", "leave out the `tests` that match this regular expression")
	flag.IntVar(&o.factor, "timeout", 10, "a mutant is caught that takes this `factor` times as long as usual, and half a minute more")
	flag.Parse()
	if flag.NArg() == 0 || o.jobs < 1 || o.count < 1 || o.factor < 1 {
		fmt.Fprintln(os.Stderr, "usage: mutants [-seed N] [-count N] [-jobs N] [-least PERCENT] [-skip TESTS] [-timeout FACTOR] PACKAGE...")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := 0
	for _, path := range flag.Args() {
		good, err := judge(ctx, os.Stdout, path, o)
		if err != nil {
			fmt.Fprintf(os.Stderr, "test/mutants: %s: %v\n", path, err)
			status = 2
			break
		}
		if !good {
			status = 1
		}
	}
	stop()
	os.Exit(status)
}

// judge runs the mutants of a package and prints what becomes of them. It reports whether as many are caught as have to be.
func judge(ctx context.Context, out io.Writer, path string, o options) (bool, error) {
	p, err := load(path)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "%s: %d places to change, seed %d\n", p.ImportPath, len(p.mutants), o.seed)
	r, err := newRunner(ctx, p, o)
	if err != nil {
		return false, err
	}
	defer r.close()
	random := rand.New(rand.NewPCG(o.seed, 0))
	random.Shuffle(len(p.mutants), func(i, j int) { p.mutants[i], p.mutants[j] = p.mutants[j], p.mutants[i] })
	s, err := r.runAll(p.mutants)
	if err != nil {
		return false, err
	}
	s.print(out, p.ImportPath, o.seed)
	return s.percent() >= o.least, nil
}
