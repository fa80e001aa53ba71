package main

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

// TestGDB lets stock GDB trace the program in the emulator: the sum grows by 10, 9 and so on, and memory holds the same.
func TestGDB(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- serve(listener) }()
	defer listener.Close()
	out := gdbtest.RunMultiarch(t, fmt.Sprintf(`
set architecture riscv:rv32
target remote %s
trace *0x80000014 if $a1 < 10
actions
collect $a2, *(int *)0x80001000
end
break *0x80000020
tstart
-- stepped --
stepi
p/x $pc
-- stopped --
continue
p/x $pc
tstatus
tstop
-- frames --
tfind start
while $trace_frame != -1
  printf "%%d %%d\n", $a2, *(int *)0x80001000
  tfind
end
-- end --
continue
`, listener.Addr()))
	if got := out.Section(t, "stepped"); !strings.Contains(got, "0x80000004") {
		t.Errorf("stepi: %s", got)
	}
	if got := out.Section(t, "stopped"); !strings.Contains(got, "= 0x80000020") || !strings.Contains(got, "Collected 9 trace frames") {
		t.Errorf("continue: %s", got)
	}
	sum := 10
	for n := 9; n > 0; n-- {
		sum += n
		if line := fmt.Sprintf("%d %d\n", sum, sum); !strings.Contains(out.Section(t, "frames"), line) {
			t.Errorf("%q is missing in\n%s", line, out.Section(t, "frames"))
		}
	}
	if got := out.Section(t, "end"); !strings.Contains(got, "exited normally") {
		t.Errorf("the end: %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
