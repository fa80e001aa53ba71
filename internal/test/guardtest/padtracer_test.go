//go:build linux && amd64

package guardtest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/target"
	"tracewell/target/linux"
	"tracewell/trace"
	"tracewell/trace/compiled"
)

// padTracer names, in the environment, what this program is to do as a tracer that makes pads, until it is killed: the process, a
// file for what it has come to, and the addresses.
const padTracer = "GUARDTEST_PADS"

// padHolder is padTracer for a tracer that never resumes the process.
const padHolder = "GUARDTEST_PADS_HELD"

func TestMain(m *testing.M) {
	linux.RunIfGuard()
	for variable, trace := range map[string]func(order []string) error{
		padTracer: traceByPads, padHolder: holdByPads, judgeTracer: breakByPads,
	} {
		if order := os.Getenv(variable); order != "" {
			fmt.Fprintln(os.Stderr, "tracer:", trace(strings.Fields(order)))
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

const rsi = 4

// coreBlock is the length of a register block with the general registers, pc, flags and segment registers.
const coreBlock = 17*8 + 7*4

// Words in the file of a tracer.
const (
	wordFrames  = iota // that it was handed
	wordPads           // locations that are armed
	wordChanges        // how often it has changed them
	progressWords
)

// readOrder reads what a tracer is told to do.
func readOrder(order []string) (pid int, progress []uint64, addrs []arch.Addr, err error) {
	if pid, err = strconv.Atoi(order[0]); err != nil {
		return 0, nil, nil, err
	}
	file, err := os.OpenFile(order[1], os.O_RDWR, 0)
	if err != nil {
		return 0, nil, nil, err
	}
	defer file.Close()
	if progress, _, err = sys.MapShared(file); err != nil {
		return 0, nil, nil, err
	}
	for _, text := range order[2:] {
		addr, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return 0, nil, nil, err
		}
		addrs = append(addrs, arch.Addr(addr))
	}
	return pid, progress, addrs, nil
}

// armPads attaches to a process and collects at all addresses, of which the first has to get a pad.
func armPads(pid int, words []uint64, addrs []arch.Addr) (t *linux.Target, points []*compiled.Tracepoint, err error) {
	if t, err = linux.New(linux.Streams{}); err != nil {
		return nil, nil, err
	}
	t.UsePads(linux.Pads{Ring: 1 << 20})
	if _, err := t.Attach(pid); err != nil {
		return nil, nil, err
	}
	c := t.Collector()
	c.Begin(target.Run{RegisterBlock: coreBlock, MaxFrame: 1 << 16, Deposit: func(d []target.Deposit) target.Verdict {
		atomic.AddUint64(&words[wordFrames], uint64(len(d)))
		return target.Continue
	}})
	for i, addr := range addrs {
		actions := []trace.Action{{Kind: trace.CollectRegisters, Mask: []byte{0xff}}}
		if i == 0 { // the pointer that tick is called with
			actions = append(actions, trace.Action{Kind: trace.CollectMemory, Base: rsi, Length: 4})
		}
		point, err := compiled.Compile(&trace.Tracepoint{Number: trace.Number(i + 1), Addr: addr, Enabled: true,
			Actions: actions})
		if err != nil {
			return nil, nil, err
		}
		if err := c.Offload(pid, point); err == nil {
			points = append(points, point)
		} else if i == 0 {
			return nil, nil, err
		}
	}
	if _, err := c.Apply(); err != nil {
		return nil, nil, err
	}
	atomic.StoreUint64(&words[wordPads], uint64(len(points)))
	return t, points, nil
}

// holdByPads arms pads in a process that stands still, and leaves it so.
func holdByPads(order []string) error {
	pid, words, addrs, err := readOrder(order)
	if err == nil {
		_, _, err = armPads(pid, words, addrs)
	}
	if err == nil {
		time.Sleep(time.Hour)
	}
	return err
}

// traceByPads attaches to a process and collects at all addresses. It never takes the first away again, the others all the time:
// the tracer is to be killed while it arms as often as while it traces.
func traceByPads(order []string) error {
	pid, words, addrs, err := readOrder(order)
	if err != nil {
		return err
	}
	t, points, err := armPads(pid, words, addrs)
	if err != nil {
		return err
	}
	c := t.Collector()
	if err := t.Resume([]target.Action{{Thread: target.ThreadID{PID: target.All, TID: target.All}}}); err != nil {
		return err
	}
	for round := 0; ; round++ {
		for _, point := range points[1:] {
			if rand.IntN(2) == 0 {
				continue
			}
			if round%2 == 0 {
				c.Recall(pid, point.Addr)
			} else {
				c.Offload(pid, point)
			}
		}
		if _, err := c.Apply(); err != nil {
			return err
		}
		atomic.AddUint64(&words[wordChanges], 1)
		time.Sleep(rand.N(4 * time.Millisecond))
	}
}
