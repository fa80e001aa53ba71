//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"tracewell/internal/routine"
)

// fate is what becomes of a mutant.
type fate int

const (
	survived fate = iota
	failed        // its tests fail
	late          // its tests take too long
	broken        // it does not compile
)

// score is what has become of mutants.
type score struct {
	counts    [broken + 1]int
	survivors []*mutant // in the order in which they were drawn
}

func (s *score) judged() int { return s.counts[survived] + s.counts[failed] + s.counts[late] }

func (s *score) percent() float64 {
	return 100 * float64(s.counts[failed]+s.counts[late]) / float64(max(1, s.judged()))
}

func (s *score) print(out io.Writer, name string, seed uint64) {
	here, _ := os.Getwd()
	for _, m := range s.survivors {
		path := m.file
		if short, err := filepath.Rel(here, path); err == nil {
			path = short
		}
		fmt.Fprintf(out, "%s:%d: %s → %s\n", path, m.line, m.old, brief(m.replacement))
	}
	fmt.Fprintf(out, "%s: %d of %d mutants caught, %.1f %% (%d took too long; %d more did not compile), seed %d\n",
		name, s.judged()-s.counts[survived], s.judged(), s.percent(), s.counts[late], s.counts[broken], seed)
}

// runner runs mutants of a package.
type runner struct {
	ctx     context.Context
	pack    *pack
	options options
	dir     string // temporary
	limit   time.Duration
}

// newRunner runs the package as it is, as often at the same time as mutants will, to see that its tests pass and how long they take.
func newRunner(ctx context.Context, p *pack, o options) (*runner, error) {
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		return nil, err
	}
	r := &runner{ctx: ctx, pack: p, options: o, dir: dir, limit: 10 * time.Minute}
	binary := filepath.Join(dir, "unchanged")
	if err := r.compile(binary, ""); err != nil {
		r.close()
		return nil, err
	}
	var wait routine.Group
	errs := make([]error, o.jobs)
	began := time.Now()
	for i := range o.jobs {
		wait.Go(func() { errs[i] = r.test(binary) })
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		r.close()
		return nil, fmt.Errorf("the tests fail as they are: %w", err)
	}
	r.limit = time.Duration(o.factor)*time.Since(began) + o.spare
	return r, nil
}

func (r *runner) close() { os.RemoveAll(r.dir) }

// runAll runs as many mutants as are asked for, of those that compile the first.
func (r *runner) runAll(all []*mutant) (*score, error) {
	fates := make([]fate, len(all))
	errs := make([]error, r.options.jobs)
	var next, judged atomic.Int64
	var wait routine.Group
	for job := range r.options.jobs {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(all) || judged.Load() >= int64(r.options.count) || r.ctx.Err() != nil {
					return
				}
				if fates[i], errs[job] = r.run(all[i], fmt.Sprint(job)); errs[job] != nil {
					return
				}
				if fates[i] != broken {
					judged.Add(1)
				}
			}
		})
	}
	wait.Wait()
	if err := errors.Join(append(errs, r.ctx.Err())...); err != nil {
		return nil, err
	}
	return tally(all, fates, r.options.count, int(next.Load())), nil
}

// tally counts the first mutants that compile, whoever was the fastest.
func tally(all []*mutant, fates []fate, count, drawn int) *score {
	var s score
	for i, m := range all[:min(drawn, len(all))] {
		if s.judged() == count {
			break
		}
		if s.counts[fates[i]]++; fates[i] == survived {
			s.survivors = append(s.survivors, m)
		}
	}
	return &s
}

// run compiles a mutant and runs its tests.
func (r *runner) run(m *mutant, job string) (fate, error) {
	text, err := os.ReadFile(m.file)
	if err != nil {
		return 0, err
	}
	changed := append(append(append([]byte(nil), text[:m.from]...), m.replacement...), text[m.to:]...)
	file, binary := filepath.Join(r.dir, job+".go"), filepath.Join(r.dir, job+".test")
	if err := os.WriteFile(file, changed, 0o600); err != nil {
		return 0, err
	}
	overlay := filepath.Join(r.dir, job+".json")
	replaced, err := json.Marshal(map[string]map[string]string{"Replace": {m.file: file}})
	if err != nil {
		return 0, err
	}
	if err := os.WriteFile(overlay, replaced, 0o600); err != nil {
		return 0, err
	}
	var complaint *compileError
	if err := r.compile(binary, overlay); errors.As(err, &complaint) {
		return broken, nil
	} else if err != nil {
		return 0, err
	}
	switch err := r.test(binary); {
	case err == nil:
		return survived, nil
	case r.ctx.Err() != nil:
		return 0, nil
	case errors.Is(err, errLate):
		return late, nil
	}
	return failed, nil
}

// compileError is what the compiler says.
type compileError struct{ text string }

func (e *compileError) Error() string { return e.text }

// compile makes the test binary of the package.
func (r *runner) compile(binary, overlay string) error {
	c := exec.CommandContext(r.ctx, "go", "test", "-c", "-o", binary, "-overlay", overlay, ".")
	if overlay == "" {
		c.Args = []string{"go", "test", "-c", "-o", binary, "."}
	}
	c.Dir = r.pack.Dir
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && r.ctx.Err() == nil {
		return &compileError{string(bytes.TrimSpace(out))}
	}
	return err
}

var errLate = errors.New("the tests take too long")

// mostMemory is the address space of a test in KiB. A mutant may ask for memory without end.
const mostMemory = 4 << 20

// test runs a test binary, with all that it starts in a process group of its own, which ends with it.
func (r *runner) test(binary string) error {
	ctx, cancel := context.WithTimeoutCause(r.ctx, r.limit, errLate)
	defer cancel()
	const limited = `ulimit -v "$1"; exec "$0" -test.failfast -test.timeout 0 -test.skip "$2"`
	c := exec.CommandContext(ctx, "/bin/sh", "-c", limited, binary, strconv.Itoa(mostMemory), r.options.skip)
	c.Dir = r.pack.Dir
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 5 * time.Second
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	err := c.Run()
	if c.Process != nil {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) // what the test has left; there is no group if nothing
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		tail := output.Bytes()
		return fmt.Errorf("%w: %s", err, tail[max(0, len(tail)-2000):])
	}
	return nil
}
