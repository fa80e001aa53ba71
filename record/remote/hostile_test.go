//go:build linux && amd64

package remote

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

	"tracewell/internal/test/testprog"
	"tracewell/record"
	"tracewell/rsp/request"
	"tracewell/tfile"
)

// transcript is what a server has said in a run, so that it can be said again without one.
type transcript struct {
	exchanges []exchange
	told      []notification
}

type exchange struct{ packet, reply string }

// notification is one that came after so many resumptions.
type notification struct {
	resumed int
	text    string
}

// takeDown records a run.
func takeDown(t *testing.T, plan string, command ...string) *transcript {
	t.Helper()
	c, s := config(t, nil, plan, command...)
	r := ahead(t, s.Address)
	real, resumed, log := r.answer, 0, &transcript{}
	r.answer = func(packet string) (string, []string) {
		reply, told := real(packet)
		if strings.HasPrefix(packet, "qXfer:libraries-svr4") {
			reply = "l<library-list-svr4/>" // there is enough to read without
		}
		for _, text := range told {
			log.told = append(log.told, notification{resumed, text})
		}
		if strings.HasPrefix(packet, "vCont") {
			resumed++
		}
		log.exchanges = append(log.exchanges, exchange{packet, reply})
		return reply, told
	}
	c.Address = r.listen(t)
	if result, _ := run(t, func() Config { return c }); result.End != record.ProgramEnded {
		t.Fatalf("%+v", result)
	}
	return log
}

// replay answers as the server did: with what it said next to the same packet, or last. Damage changes what is said.
func (l *transcript) replay(damage func(packet, reply string) string) *relay {
	next := make(map[string]int)
	resumed, told := 0, 0
	return &relay{answer: func(packet string) (string, []string) {
		var notifications []string
		for ; told < len(l.told) && l.told[told].resumed <= resumed; told++ {
			notifications = append(notifications, "Stop:"+damage("", strings.TrimPrefix(l.told[told].text, "Stop:")))
		}
		if strings.HasPrefix(packet, "vCont") {
			resumed++
		}
		n := next[packet]
		next[packet]++
		reply := ""
		for _, e := range l.exchanges {
			if e.packet != packet {
				continue
			}
			if reply = e.reply; n == 0 {
				break
			}
			n--
		}
		return damage(packet, reply), notifications
	}}
}

// junk are things that servers might say.
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
	// longest is what no run may take, with all its patience and with the others beside it on a machine that has other work.
	longest = 90 * time.Second
)

// TestDamaged has a server say nonsense, one kind of packet after another. Whatever comes of it, it is over soon, and a file that is
// there is whole.
func TestDamaged(t *testing.T) {
	p := testprog.Build(t, "queue", testprog.Variant{})
	log := takeDown(t, "tvariable $n = 1\ntrace push if pushes < 5\nactions\ncollect pushes, $n\nend\n", p.Path, "6")
	names := []string{""}
	for _, e := range log.exchanges {
		if name := nameOf(e.packet); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) < 20 {
		t.Fatalf("only %q was asked", names)
	}
	whole := log.replay(func(_, reply string) string { return reply })
	if err := tryRun(t, whole, time.Minute); err != nil {
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
					if packet == "" && name == "" || packet != "" && nameOf(packet) == name {
						return say(reply)
					}
					return reply
				})
				start := time.Now()
				if err := tryRun(t, r, 100*time.Millisecond); err != nil {
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

// tryRun runs, with a limit, at a server that may say anything.
func tryRun(t *testing.T, r *relay, limit time.Duration) error {
	t.Helper()
	c := Config{
		Config: record.Config{
			Plan:   script(t, "tvariable $n = 1\ntrace push if pushes < 5\nactions\ncollect pushes, $n\nend\n"),
			Output: filepath.Join(t.TempDir(), "run.tf"),
		},
		Address: r.listen(t),
	}
	s, err := Open(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
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

// TestSilent does not wait for ever for a server that says nothing.
func TestSilent(t *testing.T) {
	r := &relay{answer: func(string) (string, []string) { return "", nil }}
	if _, err := Open(Config{Config: record.Config{Plan: script(t, "trace push\n")}, Address: r.listen(t)}); err == nil ||
		!strings.Contains(err.Error(), "it has no tracepoints") {
		t.Error(err)
	}
	for address, says := range map[string]string{
		"localhost:1":        "cannot connect to localhost:1",
		"1":                  "is no place of a server",
		"unix:/nowhere/sock": "cannot connect",
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			if _, err := Open(Config{Config: record.Config{Plan: script(t, "trace push\n")}, Address: address}); err == nil ||
				!strings.Contains(err.Error(), says) {
				t.Error(err)
			}
		})
	}
}

// nameOf is the name of a packet.
func nameOf(packet string) string {
	f, _ := request.Find([]byte(packet))
	if f == nil {
		return packet
	}
	return f.Describe().Name()
}
