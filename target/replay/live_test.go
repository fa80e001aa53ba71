package replay_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// session is a trace run of a program, and what of it GDB's own reader of trace files shows rightly.
type session struct {
	name    string
	program string
	variant testprog.Variant
	define  string // tracepoints, from number 1 on
	byGDB   bool   // target tfile shows all frames
}

// collecting has conditions, state variables, all kinds of collection and while-stepping.
const collecting = `
	tvariable $hits = 0
	tvariable $negative = -5
	trace queue.c:push
	actions
	collect $regs, $args, *item, pending
	teval $hits = $hits + 1
	collect $hits, $negative
	end
	condition 1 item->number > 2
	trace queue.c:pop
	actions
	collect $args, $locals, pops
	end
	passcount 6 2
	trace queue.c:work
	actions
	collect $args
	while-stepping 3
	collect $regs, *item
	end
	end
	set trace-notes "notes; of: the \"queue\""
	set trace-user ada
`

// sessions are the runs that are compared.
var sessions = []session{
	{name: "fixed", program: "queue", variant: testprog.Variant{NoPIE: true}, define: collecting, byGDB: true},
	{name: "pie", program: "queue", define: collecting},
	{name: "several-locations", program: "queue", variant: testprog.Variant{Optimised: true}, define: `
		trace queue.c:64
		actions
		collect $regs, pending
		end
		trace queue.c:push
		actions
		collect $regs, $args
		end
		`},
	{name: "strings", program: "collects", define: `
		trace handle
		actions
		collect/s label
		collect $regs, *n, n->name, matrix, $_ret
		end
		trace collects.c:26
		actions
		collect $locals, buf[2]@3, paint, ratio, text
		collect/s5 text
		end
	`},
	{name: "circular", program: "queue", define: `
		set circular-trace-buffer on
		set trace-buffer-size 20000
		trace queue.c:push
		actions
		collect $regs, *item
		end
		trace queue.c:work
		actions
		collect $args, *item
		while-stepping 2
		collect $args
		end
		end
		`},
}

// looking is what a user may do with frames. Nothing in it may depend on how GDB came by the tracepoints.
const looking = `
	-- status --
	tstatus
	info tracepoints
	-- walk --
	tfind start
	while $trace_frame != -1
	tdump
	info line *$pc
	x/2i $pc
	bt 1
	printf "%d %d %d %s %s\n", $trace_frame, $tracepoint, $trace_line, $trace_func, $trace_file
	tfind
	end
	-- variables --
	tfind start
	while $trace_frame != -1
	info tvariables
	tfind
	end
	-- steps --
	tfind 2
	tfind
	tfind -
	? tfind 1000
	tfind 1
	tfind pc
	? tfind tracepoint
	? tfind line
	-- tracepoints --
` + searching

// searching repeats each search until it finds no more.
const searching = `
	python
	def search(what):
	  print('search ' + what)
	  gdb.execute('tfind none')
	  gdb.execute('tfind ' + what)
	  while int(gdb.parse_and_eval('$trace_frame')) != -1:
	    try: gdb.execute('tfind ' + what)
	    except gdb.error as e: print(e)
	for what in ('tracepoint 1', 'tracepoint 2', 'tracepoint 3'):
	  try: search(what)
	  except gdb.error as e: print(e)
	end
	-- searches --
	python
	def frame(n):
	  gdb.execute('tfind %d' % n)
	  return int(gdb.parse_and_eval('(unsigned long) $pc'))
	gdb.execute('tfind start')
	pcs = [frame(n) for n in range(8)]
	for pc in sorted(set(pcs)):
	  search('pc %#x' % pc)
	low, high = min(pcs), sorted(pcs)[4]
	search('range %#x, %#x' % (low, high))
	search('outside %#x, %#x' % (low, high))
	search('range %#x, %#x' % (high + 1, high + 2))
	search('pc 1')
	end
`

// TestSameAsLive walks through the frames of a run in GDB while it is live, in GDB's own reader of trace files, and replayed,
// to a GDB that was given the program and to one that was not. All must print the same.
func TestSameAsLive(t *testing.T) {
	for _, s := range sessions {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.compare(t)
		})
	}
}

func (s session) compare(t *testing.T) {
	program := testprog.Build(t, s.program, s.variant)
	saved := filepath.Join(t.TempDir(), "saved.tf")
	server := gdbtest.Start(t, gdbtest.Config{Command: []string{program.Path, "12"}})
	live := gdbtest.Run(t, program.Path, fmt.Sprintf("target remote %s\n%s\ntbreak main\ncontinue\ntstart\nbreak exit\ncontinue\n"+
		"? tstop\ntsave %s\ndelete $bpnum\n", server.Address, s.define, saved)+looking+"-- end --\nkill\n")
	replayed := serveReplay(t, "--exec", program.Path, "--listen", saved)
	for name, given := range map[string]string{"with the program": program.Path, "without it": ""} {
		output := gdbtest.Run(t, given, "target remote "+replayed.Address+"\n"+looking+"-- end --\n")
		for _, section := range []string{"status", "walk", "variables", "steps", "tracepoints", "searches"} {
			same(t, "replayed "+name, section, live, output)
		}
	}
	if s.byGDB {
		output := gdbtest.Run(t, program.Path, "target tfile "+saved+"\n"+looking+"-- end --\n")
		for _, section := range []string{"walk", "tracepoints"} {
			same(t, "target tfile", section, live, output)
		}
	}
}

// same compares a section of what two GDBs printed.
func same(t *testing.T, name, section string, live, other *gdbtest.Output) {
	t.Helper()
	want, got := live.Section(t, section), other.Section(t, section)
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s, %s (-live +%[1]s):\n%[3]s", name, section, diff)
	}
	if !strings.Contains(want, "race") { // Trace, trace frame
		t.Errorf("the live session shows nothing as %s: %s", section, want)
	}
}
