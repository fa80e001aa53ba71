package live

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"tracewell/internal/test/testprog"
)

// TestWriteRegisters writes registers of each kind and reads them back after an instruction, when they have been to the kernel
// and come from it again. What this processor lacks is void in GDB and left out.
func TestWriteRegisters(t *testing.T) {
	t.Parallel()
	registers := []struct{ register, field, value, shown string }{
		{"$rax", "", "0x1122334455667788", "1234605616436508552"},
		{"$r15", "", "-2", "-2"},
		{"$eflags", "", "0x246", "[ PF ZF IF ]"},
		{"$st0", "", "1.5", "1.5"},
		{"$st7", "", "-0.25", "-0.25"},
		{"$mxcsr", "", "0x1fa0", "[ PE IM DM ZM OM UM PM ]"},
		{"$xmm0", ".v2_int64[1]", "42", "42"},
		{"$xmm15", ".uint128", "77", "77"},
		{"$ymm2", ".v4_int64[3]", "123456789", "123456789"},
		{"$ymm14", ".v4_int64[0]", "-5", "-5"},
		{"$zmm3", ".v8_int64[7]", "987654321", "987654321"},
		{"$zmm31", ".v8_int64[0]", "3131", "3131"},
		{"$k1", "", "21", "21"},
	}
	var write, read strings.Builder
	for _, r := range registers {
		fmt.Fprintf(&write, "if !$_isvoid (%s)\nset %[1]s%s = %s\nend\n", r.register, r.field, r.value)
		fmt.Fprintf(&read, "if !$_isvoid (%s)\necho %[1]s = \noutput %[1]s%s\necho \\n\nend\n", r.register, r.field)
	}
	s := debug(t, testprog.Build(t, "insns", testprog.Variant{NoPIE: true}), []string{"2"}, toMain+`
		break insn_movq_xmm
		continue
		delete
		`+write.String()+`
		stepi
		-- registers --
		`+read.String()+`
		-- program --
		set $xmm1.v2_int64[0] = 12345
		stepi
		print $rax
		-- rest --
		continue
	`)
	text := s.output.Section(t, "registers")
	for i, r := range registers {
		got := lines(text, r.register)
		if want := r.register + " =" + r.shown; i < 8 && len(got) == 0 || len(got) > 0 && got[0] != want {
			t.Errorf("after %s%s = %s it is %q", r.register, r.field, r.value, got)
		}
	}
	contains(t, s.output, "program", "$1 = 12345")
	sameLines(t, "what the program finds wrong", []string{"insn name=movq_xmm calls=2 wrong=1 sum=12346"},
		having(s.finished(t, "insn"), "wrong=1"))
}

// TestWriteMemory changes variables, and calls a function of the program, which leaves no trace in the registers.
func TestWriteMemory(t *testing.T) {
	t.Parallel()
	s := debug(t, queue(t), []string{"8"}, toMain+`
		break {mark: worked}
		continue
		-- call --
		delete
		set $before = $rip
		set $xmm0.v2_int64[0] = 99
		print work (item, 1000)
		print pending.length == 0 && $rip == $before && $xmm0.v2_int64[0] == 99
		print item->label
		-- set --
		set var result = 777
		set var item->label = "changed-it"
		set var pushes = pushes + 100
		print result
		print pushes
		-- rest --
		continue
	`)
	worked := s.finished(t, "work")
	sameLines(t, "the program's lines", []string{
		"work number=1 factor=1000 digits=1 result=1001", "work number=1 factor=1 digits=1 result=777",
	}, worked[:2])
	contains(t, s.output, "call", "= 1001", "$2 = 1", `"item-1`)
	contains(t, s.output, "set", "= 777", "= 101")
	if pushes := s.finished(t, "push"); !strings.HasSuffix(pushes[7], " pushes=108") {
		t.Errorf("the last push: %s", pushes[7])
	}
}

// TestDetach leaves a program in the midst of everything: breakpoints, a run, threads in slots. It must end as if nothing had
// been.
func TestDetach(t *testing.T) {
	t.Parallel()
	for _, running := range []bool{false, true} {
		t.Run(fmt.Sprint("tracing-", running), func(t *testing.T) {
			t.Parallel()
			program := testprog.Build(t, "threads", testprog.Variant{})
			script := toMain + `
				trace work
				actions
				collect $regs
				while-stepping 5
				collect $regs
				end
				end
				trace {mark: account-line}
				break account if round == 5
			`
			if running {
				script += "tstart\n"
			}
			s := debug(t, program, []string{"30"}, script+"continue\n-- detach --\ndetach\n")
			contains(t, s.output, "detach", "detached")
			s.server.Wait(t)
			awaitGone(t, s.server.InferiorPID(t))
			accounts := lines(s.server.Stdout(), "account")
			if want := lines(untraced(program, "30"), "done"); len(accounts) != 60 {
				t.Errorf("%d calls of account", len(accounts))
			} else {
				sameLines(t, "the program's last line", want, lines(s.server.Stdout(), "done"))
			}
		})
	}
}

// awaitGone waits for the end of a process that is no longer under trace.
func awaitGone(t *testing.T, pid int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d is still there", pid)
		}
	}
}

// TestKill ends a program that is being traced and whose threads spin. Nothing may be left of it.
func TestKill(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "exits", testprog.Variant{}), []string{"20"}, toMain+`
		trace other_step
		trace {mark: step-line}
		actions
		collect $regs
		end
		break exits.c:step if call == 7
		tstart
		continue
		-- kill --
		kill
	`)
	contains(t, s.output, "kill", "killed")
	s.server.Wait(t)
	awaitGone(t, s.server.InferiorPID(t))
}

// TestExitStatus looks at how GDB tells of the end, and the server.
func TestExitStatus(t *testing.T) {
	t.Parallel()
	s := debug(t, testprog.Build(t, "exits", testprog.Variant{}), []string{"3"}, toMain+`
		-- end --
		continue
		print $_exitcode
	`)
	contains(t, s.output, "end", "exited with code 07", "= 7")
	if code := s.server.Wait(t); code != 0 {
		t.Errorf("the server's exit status is %d", code)
	}
}
