package firmware

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

var whole = flag.Bool("whole", false, "start every board, not only the quick ones")

// quick are the boards that make test starts.
var quick = map[Board]bool{CortexM3: true, RV64: true}

// eachBoard runs a test for the boards that are wanted.
func eachBoard(t *testing.T, test func(*testing.T, Board)) {
	for _, b := range Boards() {
		t.Run(b.String(), func(t *testing.T) {
			if !quick[b] && !*whole {
				t.Skip("a board of -whole")
			}
			test(t, b)
		})
	}
}

const calls = 40

// TestStockGDB stops each program at step and in its middle with stock GDB, and compares what GDB reads there with what the program
// keeps.
func TestStockGDB(t *testing.T) {
	eachBoard(t, func(t *testing.T, b Board) {
		m := Start(t, Build(t, b), Set("limit", calls))
		output := gdbtest.RunMultiarch(t, script(t, m))
		kept := m.Kept(t)
		for n := range 2 {
			call, ok := kept.Call(0, n)
			want := fmt.Sprintf("%d %d %d %d %d 0", call.I, call.X, call.Y, call.Point, call.Name)
			if got := output.Section(t, fmt.Sprint("call ", n)); !ok || got != want+"\n"+want {
				t.Errorf("call %d: the arguments and the entry in the ring are\n%s\nthe program has kept %q", n, got, want)
			}
		}
		call, _ := kept.Call(0, 1)
		if got, want := output.Section(t, "middle"), middle(call); got != want {
			t.Errorf("in the middle of step GDB reads %q, the program has kept %q", got, want)
		}
		if got := output.Section(t, "done"); got != fmt.Sprintf("0 %d south firmware 1", calls) {
			t.Errorf("at done GDB reads %q", got)
		}
		compareTallies(t, kept, b)
	})
}

// script has GDB stop twice at step, in the middle of step, and when hart 0 has made its calls.
func script(t *testing.T, m *Machine) string {
	const values = `printf "%d %d %d %lu %lu %d\n", `
	return strings.NewReplacer("FILE", m.Program.Path, "ADDR", m.Addr, "MIDDLE", fmt.Sprint(m.Program.Line(t, "middle"))).Replace(`
		file FILE
		target remote ADDR
		break step if p->hart == 0
		continue
		-- call 0 --
		` + values + `i, p->x, p->y, (unsigned long) p, (unsigned long) p->name, p->hart
		` + values + `kept.rings[0][0].i, kept.rings[0][0].x, kept.rings[0][0].y, kept.rings[0][0].point, kept.rings[0][0].name, 0
		-- rest --
		continue
		-- call 1 --
		` + values + `i, p->x, p->y, (unsigned long) p, (unsigned long) p->name, p->hart
		` + values + `kept.rings[0][1].i, kept.rings[0][1].x, kept.rings[0][1].y, kept.rings[0][1].point, kept.rings[0][1].name, 0
		-- rest --
		delete
		tbreak MIDDLE if p->hart == 0
		continue
		-- middle --
		printf "%d %d %d %d\n", product, device, squares[0], squares[3]
		-- rest --
		delete
		tbreak done if hart == 0
		continue
		-- done --
		printf "%d %d %s %s\n", hart, counter, names[2], version
		-- rest --
		detach
	`)
}

// middle is what GDB should read in the middle of a call.
func middle(c Call) string {
	return fmt.Sprintf("%d %d %d %d", c.Product, c.Device, c.Y*c.Y, (c.Y+3)*(c.Y+3))
}

// compareTallies holds the tallies of all harts, and all calls in the rings, against the rule that core.c makes them by.
func compareTallies(t *testing.T, kept *Kept, b Board) {
	t.Helper()
	for hart, tally := range kept.Tallies[:b.Harts()] {
		digest := uint32(0)
		for n := range int(tally.Calls) {
			call, ok := kept.Call(hart, n)
			if !ok {
				t.Fatalf("hart %d: call %d is not in the ring", hart, n)
			}
			digest = Digest(digest, call.I, call.X, call.Y, call.Product)
			want := Call{Number: uint32(n), Hart: uint32(hart), I: int32(n), X: int32(uint32(n)*2654435761) >> 16,
				Y: int32(hart*1000+n%100) - 50}
			if call.Number != want.Number || call.Hart != want.Hart || call.I != want.I || call.X != want.X || call.Y != want.Y ||
				call.Product != call.I*call.X {
				t.Errorf("hart %d, call %d: %+v, want %+v", hart, n, call, want)
			}
		}
		if digest != tally.Digest || tally.Misreads != 0 || hart == 0 && (tally.Calls != calls || tally.Done != 1) {
			t.Errorf("hart %d: %+v; the digest of its calls is %d", hart, tally, digest)
		}
	}
}
