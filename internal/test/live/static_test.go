package live

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
	"tracewell/internal/test/testprog"
)

// strace is the commands for a static tracepoint. GDB 13.1 assigns to a string in memory that it has not made one yet, and
// crashes unless that memory has just been another tracepoint's.
func strace(location, actions string) string {
	return "\ntrace main\ndelete $bpnum\nstrace " + location + "\nactions\n" + actions + "\nend\n"
}

// probes starts the program of probes with its library, and stops it in main.
func probes(t *testing.T, v testprog.Variant, rounds int, script string) *session {
	t.Helper()
	library := testprog.Build(t, "probedlib", testprog.Variant{Library: true, Optimised: v.Optimised})
	return debug(t, testprog.Build(t, "probes", v), []string{library.Path, fmt.Sprint(rounds)}, toMain+script)
}

// toLoaded goes on to where the library is loaded.
const toLoaded = `
	tbreak {mark: loaded}
	continue
`

// TestStaticTracepoints has GDB list and trace the probes of a program and of a library that it loads while it runs. What
// GDB shows as $_sdata is what the program prints.
func TestStaticTracepoints(t *testing.T) {
	t.Parallel()
	for _, v := range []testprog.Variant{{}, {NoPIE: true}, {Optimised: true}} {
		t.Run(v.String(), func(t *testing.T) {
			t.Parallel()
			staticTracepoints(t, v)
		})
	}
}

func staticTracepoints(t *testing.T, v testprog.Variant) {
	s := probes(t, v, 4, `
		-- before --
		info static-tracepoint-markers
		-- loading --
	`+toLoaded+strace("-m demo:item", "collect $_sdata, *item")+"set $item = $bpnum\n"+
		strace("-m demo:kinds", "collect $_sdata")+"set $kinds = $bpnum\n"+
		strace("-m library:advance", "collect $_sdata, $regs")+`
		-- markers --
		info static-tracepoint-markers
	`+toExit+walk(`
		if $tracepoint == $item
		printf "number arg0=%d\n", item->number
		end
		python
		kind = {int(gdb.convenience_variable(k)): k for k in ('item', 'kinds')}
		number = int(gdb.convenience_variable('tracepoint'))
		print(kind.get(number, 'advance'), gdb.parse_and_eval('$_sdata').format_string().strip('"'))
		end
	`)+`
		tsave {FILE}
	`+toEnd)
	lacks(t, s.output, "before", "library:advance")
	contains(t, s.output, "before", "demo:item", "demo:kinds", "demo:bare", "in pass at ")
	contains(t, s.output, "markers", "library:advance", "Probed by static tracepoints: #")
	contains(t, s.output, "status", "Collected 12 trace frames.")
	text := s.output.Section(t, "frames")
	var numbers []string
	for _, line := range s.finished(t, "item") {
		line, _, _ = strings.Cut(line, " arg1=")
		numbers = append(numbers, strings.Replace(line, "item", "number", 1))
	}
	sameLines(t, "memory", numbers, lines(text, "number"))
	for _, kind := range []string{"item", "kinds", "advance"} {
		sameLines(t, kind, s.finished(t, kind), lines(text, kind))
	}
	if !v.NoPIE {
		return // GDB does not know where a PIE was when the file was written, and so not what *item is
	}
	saved := s.reopen(t, "-- frames --"+walk(`printf "saved %d\n", $trace_frame`))
	if n := len(lines(saved.Section(t, "frames"), "saved")); n != 12 {
		t.Errorf("%d frames of 12 in the file", n)
	}
}

// TestStaticByAddress finds the marker of an address. One that does not exist is refused.
func TestStaticByAddress(t *testing.T) {
	t.Parallel()
	s := probes(t, testprog.Variant{}, 2, toLoaded+`
		python
		import re
		markers = gdb.execute('info static-tracepoint-markers', to_string=True)
		gdb.set_convenience_variable('place', int(re.search(r'library:advance +. +(0x\w+)', markers).group(1), 16))
		end
	`+strace("*$place", "collect $_sdata")+`
		? strace -m demo:nothing
		`+toExit+`
		tfind start
		print $_sdata
	`+toEnd)
	contains(t, s.output, "frames", "arg0=1 arg1=0.25 arg2=0x")
	if !strings.Contains(s.output.All, "error: No known static tracepoint marker named demo:nothing") {
		t.Errorf("GDB printed:\n%s", s.output.All)
	}
}

// TestSemaphores: the program sees its semaphores raised while a probe is traced: up to the hit that ends the run, from the
// next start on, and until GDB detaches.
func TestSemaphores(t *testing.T) {
	t.Parallel()
	s := probes(t, testprog.Variant{}, 7, toLoaded+
		strace("-m demo:item", "collect $_sdata")+"passcount 2\nset $item = $bpnum\n"+
		strace("-m demo:kinds", "collect $_sdata")+`
		tstart
		break pass if item->number == 4
		continue
		-- status --
		tstatus
		-- again --
		passcount 0 $item
		tstart
		break pass if item->number == 6
		continue
		disable $item
		break pass if item->number == 7
		continue
		detach
	`)
	contains(t, s.output, "status", "Trace stopped by tracepoint")
	sameLines(t, "semaphores", []string{
		"raised round=1 item=1 kinds=1 bare=0",
		"raised round=2 item=0 kinds=0 bare=0", // the run has ended at the second item
		"raised round=3 item=0 kinds=0 bare=0",
		"raised round=4 item=1 kinds=1 bare=0",
		"raised round=5 item=1 kinds=1 bare=0",
		"raised round=6 item=0 kinds=1 bare=0", // disabled
		"raised round=7 item=0 kinds=0 bare=0", // detached
	}, s.finished(t, "raised"))
}

// TestStaticReconnected has another GDB take over a run with a static tracepoint, which it sees as an ordinary one.
func TestStaticReconnected(t *testing.T) {
	t.Parallel()
	s := probes(t, testprog.Variant{}, 4, toLoaded+strace("-m demo:item", "collect $_sdata")+`
		set disconnected-tracing on
		tstart
		break pass if item->number == 2
		continue
		disconnect
	`)
	output := gdbtest.Run(t, s.program.Path, s.expand(t, `
		target remote {SERVER}
		-- tracepoints --
		info tracepoints
		break exit
		continue
		tstop
		-- frames --
	`+walk("output $_sdata\necho \\n")+toEnd))
	contains(t, output, "tracepoints", "collect $_sdata", "in pass")
	for _, line := range s.finished(t, "item") {
		contains(t, output, "frames", strings.TrimPrefix(line, "item "))
	}
}
