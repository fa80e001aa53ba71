package live

import (
	"testing"

	"tracewell/internal/test/testprog"
)

// TestFind searches memory as GDB's find does: from one chunk of the server's to the next, backwards never, and up to where
// memory ends. What the program has by then is told by GDB's own reading of it.
func TestFind(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "locals", testprog.Variant{NoPIE: true, Static: true}), nil, toMain+`
		break meet
		continue
		-- find --
		find &threads, +sizeof(threads), threads[3]
		find /w1 (char *) &threads - 8, +4096, (int) threads[0]
		find &library_count, +4, (char) 0xee
		-- code --
		find /1 0x401000, (char *) meet + 16, *(long *) meet
		print /x (long) meet
		-- hole --
		find 0, +0x10000, 'x'
		-- sections --
		compare-sections .text
		compare-sections .rodata
		-- changed --
		set var *(char *) meet = 0x90
		compare-sections .text
		kill
	`)
	contains(t, s.output, "find", "<threads+24>", "<threads>", "Pattern not found")
	contains(t, s.output, "code", "<meet>", "1 pattern found")
	contains(t, s.output, "hole", "Pattern not found")
	contains(t, s.output, "sections", "Section .text, range", ": matched.", "Section .rodata, range")
	lacks(t, s.output, "sections", "MIS-MATCHED")
	contains(t, s.output, "changed", "MIS-MATCHED!")
}
