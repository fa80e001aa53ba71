//go:build unix

package proxytest

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"testing"
	"time"

	"tracewell/internal/test/firmware"
	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testtool"
)

var whole = flag.Bool("whole", false, "all peers, a kernel, and a million hits")

// peer is a stub in front of a program, without a client yet.
type peer struct {
	program *firmware.Program
	address string // for --to
	kept    func(testing.TB) *firmware.Kept
	machine *firmware.Machine // nil for a server of processes
}

// kind is a way to get a peer.
type kind struct {
	name  string
	quick bool // make test has it
	board firmware.Board
	start func(t testing.TB, calls int) *peer
}

// kinds are all peers that run the program.
func kinds() (all []kind) {
	quick := map[firmware.Board]bool{firmware.CortexM3: true, firmware.RV64x2: true, firmware.X86: true, firmware.LinuxX86: true}
	for _, b := range firmware.Boards() {
		all = append(all, kind{b.String(), quick[b], b, func(t testing.TB, calls int) *peer { return onBoard(t, b, calls) }})
	}
	return append(all,
		kind{"gdbserver", true, firmware.LinuxX86, func(t testing.TB, calls int) *peer {
			return underServer(t, []string{testtool.Path(t, "gdbserver")}, firmware.Set("limit", uint32(calls)))
		}},
		kind{"serve", false, firmware.LinuxX86, func(t testing.TB, calls int) *peer {
			return underServer(t, nil, firmware.Set("limit", uint32(calls)))
		}})
}

// eachPeer runs a test at every peer that is wanted.
func eachPeer(t *testing.T, test func(*testing.T, kind)) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			if !k.quick && !*whole {
				t.Skip("a peer of -whole")
			}
			t.Parallel()
			test(t, k)
		})
	}
}

func onBoard(t testing.TB, b firmware.Board, calls int) *peer {
	t.Helper()
	m := firmware.Start(t, firmware.Build(t, b), firmware.Set("limit", uint32(calls)))
	return &peer{m.Program, m.Addr, m.Kept, m}
}

// underServer starts the program under a server of processes, nil for tracewell serve.
func underServer(t testing.TB, server []string, with ...firmware.Option) *peer {
	t.Helper()
	program := firmware.Build(t, firmware.LinuxX86)
	s := gdbtest.Start(t, gdbtest.Config{
		Server: server, Comm: ":0", Command: []string{program.With(t, with...)},
	})
	return &peer{program: program, address: s.Address, kept: func(t testing.TB) *firmware.Kept {
		t.Helper()
		kept := &firmware.Kept{}
		for limit := time.Now().Add(10 * time.Second); len(s.Stdout()) < binary.Size(kept); time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("the program has written %d bytes", len(s.Stdout()))
			}
		}
		if err := binary.Read(bytes.NewReader([]byte(s.Stdout())), binary.LittleEndian, kept); err != nil {
			t.Fatal(err)
		}
		return kept
	}}
}

// proxied starts a proxy in front of a peer.
func proxied(t testing.TB, address string, flags ...string) *gdbtest.Server {
	t.Helper()
	return gdbtest.Start(t, gdbtest.Config{
		Server: []string{gdbtest.Binary(t), "proxy"}, Flags: append(flags, "--to", address),
	})
}

// debugged is the beginning of a script in which GDB connects to a proxy.
func debugged(p *peer, proxy *gdbtest.Server) string {
	return fmt.Sprintf("file %s\ntarget remote %s\n", p.program.Path, proxy.Address)
}
