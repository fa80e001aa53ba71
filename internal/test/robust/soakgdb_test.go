//go:build linux

package robust

import (
	"fmt"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

// TestSoakWithGDB is TestSoak with the GDB that is installed: one that defines the tracepoints, one in non-stop mode, which
// switches them while the program runs, and one in all-stop mode again.
func TestSoakWithGDB(t *testing.T) {
	r := soakRelay(t)
	var define strings.Builder
	for _, place := range r.places {
		fmt.Fprintf(&define, "trace *%#x\nactions\ncollect $regs, *(long *) $rsp@2\nend\n", place)
	}
	r.gdb(connectSoak + "set disconnected-tracing on\nset circular-trace-buffer on\nset trace-buffer-size 1048576\n" +
		define.String() + "tstart\n" + switchStopped + "detach\n")
	r.settled = r.serverMemory()
	r.gdb("set non-stop on\n" + connectSoak + switchRunning + "detach\n")
	r.gdb(connectSoak + switchStopped + "detach\n")
	c := r.connect()
	c.wants(c.ask("?"), "T")
	c.goOn()
	r.finish(c)
}

// gdb runs a script, in which SERVER, SECONDS and PLACES stand for what they say.
func (r *relay) gdb(script string) {
	r.Helper()
	length := *soak / 2 / connections
	var places strings.Builder
	for i := 1; i < len(r.places); i += 2 {
		fmt.Fprintf(&places, "%#x,", r.places[i])
	}
	script = strings.NewReplacer("SERVER", r.server.Address, "SECONDS", fmt.Sprint(length.Seconds()), "PLACES", places.String()).Replace(script)
	gdbtest.RunFor(r, length+gdbtest.Timeout, r.path, script)
}

const connectSoak = `
	set breakpoint pending off
	set print inferior-events off
	target remote SERVER
`

// switching defines switch(), which switches some of the tracepoints at the odd places. They have other numbers in each GDB.
const switching = `
	import random, re, time
	number = {}
	for line in gdb.execute('info tracepoints', to_string=True).splitlines():
	  found = re.match(r'(\d+) +tracepoint .* (0x[0-9a-f]+)', line)
	  if found:
	    number[int(found[2], 16)] = found[1]
	odd = [number[place] for place in (PLACES)]
	def quietly(command):
	  return gdb.execute(command, to_string=True)
	def switch():
	  for _ in range(20):
	    quietly(random.choice(('enable ', 'disable ')) + random.choice(odd))
	end = time.time() + SECONDS
`

// switchStopped lets the program run from one start of a thread to another.
const switchStopped = `
	python` + switching + `
	while time.time() < end:
	  switch()
	  quietly('tbreak start')
	  quietly('ignore $bpnum %d' % random.randrange(20))
	  quietly('continue')
	  if random.randrange(4) == 0:
	    quietly('info threads')
	    quietly('tstatus')
	end
`

// switchRunning leaves the program alone otherwise.
const switchRunning = `
	python` + switching + `
	while time.time() < end:
	  switch()
	  quietly('info threads')
	  quietly('tstatus')
	  time.sleep(0.01)
	end
`
