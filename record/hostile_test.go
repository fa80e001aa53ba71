//go:build linux && amd64

package record_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tracewell/internal/test/recording"
	"tracewell/internal/test/stubs"
	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/rsp/request"
	"tracewell/symbol"
	"tracewell/target/remote"
	"tracewell/tfile"
)

// transcript is what a stub has said in a run, so that it can be said again without one.
type transcript []exchange

type exchange struct{ packet, reply string }

// takeDown records a run.
func takeDown(t *testing.T, script string, command ...string) (log transcript) {
	t.Helper()
	result, _ := stubs.Record(t, script, func(*record.Config) string {
		r := stubs.Ahead(t, stubs.Start(t, nil, command...).Address)
		there := r.Answer
		log = nil
		r.Answer = func(packet string) string {
			reply := there(packet)
			log = append(log, exchange{packet, reply})
			return reply
		}
		return r.Listen(t)
	})
	if result.End != record.ProgramEnded {
		t.Fatalf("%+v", result)
	}
	return log
}

// replay answers as the stub did: with what it said next to the same packet, or last. Damage changes what is said.
func (l transcript) replay(damage func(packet, reply string) string) *stubs.Relay {
	next := make(map[string]int)
	return &stubs.Relay{Answer: func(packet string) string {
		n := next[packet]
		next[packet]++
		reply := ""
		if strings.HasPrefix(packet, "D") { // not in the log of a run that heard of its end by a stop, not by a status
			reply = "OK"
		}
		for _, e := range l {
			if e.packet != packet {
				continue
			}
			if reply = e.reply; n == 0 {
				break
			}
			n--
		}
		return damage(packet, reply)
	}}
}

// junk are things that stubs might say.
var junk = map[string]func(reply string) string{
	"nothing":  func(string) string { return "" },
	"error":    func(string) string { return "E01" },
	"text":     func(string) string { return "E.no" },
	"OK":       func(string) string { return "OK" },
	"end":      func(string) string { return "l" },
	"more":     func(string) string { return "m" },
	"half":     func(reply string) string { return reply[:len(reply)/2] },
	"twice":    func(reply string) string { return reply + reply },
	"digits":   func(string) string { return strings.Repeat("f", 3000) },
	"zeros":    func(string) string { return strings.Repeat("0", 256) },
	"endless":  func(string) string { return "m" + strings.Repeat("<a>", 5000) },
	"stop":     func(string) string { return "T05thread:p1.1;" },
	"status":   func(string) string { return "T1;tfull:0;tframes:ffffffffffffffff;tsize:-1" },
	"relocate": func(reply string) string { return strings.Replace(reply, "0", "ffffffffffffffff", 1) },
	"first":    func(reply string) string { return "\x00" + reply },
}

const (
	// atOnce is how many runs are tried at a time; they mostly wait.
	atOnce = 40
	// silent is how long a stub may take for a reply. It is in this process, and whatever takes longer is one more fault.
	silent = 2 * time.Second
	// longest is what no run may take, with all its patience and with the others beside it on a machine that has other work.
	longest = 90 * time.Second
)

const damagedScript = "tvariable $n = 1\ntrace push if pushes < 5\nactions\ncollect pushes, $n\nend\n"

// TestDamaged has a stub with tracepoints say nonsense, one kind of packet after another. Whatever comes of it, it is over soon, and a
// file that is there is whole.
func TestDamaged(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	log := takeDown(t, damagedScript, p.Path, "6")
	var names []string
	for _, e := range log {
		if name := nameOf(e.packet); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %q was asked", names)
	}
	whole := log.replay(func(_, reply string) string { return reply })
	if err := tryDamaged(t, whole, remote.UsualPatience, time.Minute); err != nil {
		t.Fatalf("the run cannot be replayed: %v", err)
	}
	var failed atomic.Int64
	var all sync.WaitGroup
	room := make(chan struct{}, atOnce)
	for _, name := range names {
		for kind, say := range junk {
			room <- struct{}{}
			all.Go(func() {
				defer func() { <-room }()
				r := log.replay(func(packet, reply string) string {
					if nameOf(packet) == name {
						return say(reply)
					}
					return reply
				})
				start := time.Now()
				if err := tryDamaged(t, r, silent, 100*time.Millisecond); err != nil {
					failed.Add(1)
				}
				if took := time.Since(start); took > longest {
					t.Errorf("%q answered with %s: it took %v", name, kind, took)
				}
			})
		}
	}
	all.Wait()
	if n := failed.Load(); n < int64(len(names)) {
		t.Errorf("only %d runs of %d have failed", n, len(names)*len(junk))
	}
}

// tryDamaged runs, with a limit, at a stub that may say anything, and be silent for as long as that.
func tryDamaged(t *testing.T, r *stubs.Relay, patience, limit time.Duration) error {
	t.Helper()
	on, err := stubs.Connect(r.Listen(t), remote.Options{Patience: patience})
	if err != nil {
		return err
	}
	c := record.Config{
		Plan: recording.Plan(t, damagedScript), Output: filepath.Join(t.TempDir(), "run.tf"),
		// Debug files of libraries, where they are installed, have nothing to say here, and are read anew for each run.
		Symbols: symbol.Options{DebugDirs: []string{}},
	}
	s, err := record.Open(record.NewPeer(on, "", on.Close), c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	_, err = s.Run(ctx)
	err = errors.Join(err, s.Close())
	b, failed := os.ReadFile(c.Output)
	if errors.Is(failed, fs.ErrNotExist) {
		return err
	}
	if _, failed := tfile.OpenBytes(b); failed != nil {
		t.Errorf("%v, after %v", failed, err)
	}
	return err
}

// nameOf is the name of a packet.
func nameOf(packet string) string {
	f, _ := request.Find([]byte(packet))
	if f == nil {
		return packet
	}
	return f.Describe().Name()
}
