package emulatetest

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/arch/effect"
	"tracewell/arch/emulate"
	"tracewell/internal/test/testtool"
)

// anyThread has whatever an instruction asks for.
type anyThread struct{ status uint64 }

// Register implements effect.Thread: the status is the only register behind the general ones.
func (a anyThread) Register(n int) (uint64, bool) {
	if n == 16 && a.status != 0 {
		return a.status, true
	}
	return 0x20000000, true // aligned for all
}

// Load implements effect.Thread.
func (anyThread) Load(_ uint64, p []byte, _ bool) bool { p[0] |= 1; return true }

// encoding is what the disassembler prints behind an instruction.
var encoding = regexp.MustCompile(`encoding: \[(.*)\]`)

// TestDisassembled has another decoder say of all that is emulated that it is an instruction, and of how many bytes. x86-64 has such a
// test in its own package.
func TestDisassembled(t *testing.T) {
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	for _, test := range []struct {
		machine, triple, features string
		size                      int
		thread                    anyThread
		forms                     []form
	}{
		{"riscv64", "riscv64", "+m,+a,+c", 8, anyThread{}, riscvForms(true)},
		{"riscv32", "riscv32", "+m,+a,+c", 4, anyThread{}, riscvForms(false)},
		{"arm", "thumbv7m", "", 4, anyThread{1 << 24}, thumbForms},
		{"aarch64", "aarch64", "+bti", 8, anyThread{}, a64Forms},
	} {
		t.Run(test.machine, func(t *testing.T) {
			t.Logf("-seed %d", *seed)
			r := rand.New(rand.NewPCG(*seed, 2))
			m := arch.ByName(test.machine)
			p := emulate.For(&arch.ISA{Machine: m, Order: m.Order, AddrSize: test.size}, func(name string) bool { return name != "gcspr" })
			var input, want []string
			for i := range 4 * *rounds {
				code := test.forms[i%len(test.forms)].make(r)
				if s := (effect.Step{}); p.Emulate(&s, test.thread, code, 0x1000, true) {
					var line []string
					for _, b := range code {
						line = append(line, fmt.Sprintf("0x%02x", b))
					}
					input = append(input, strings.Join(line, " "))
					want = append(want, hex.EncodeToString(code))
				}
			}
			if len(want) < *rounds {
				t.Fatalf("only %d of %d are emulated", len(want), 4**rounds)
			}
			cmd := testtool.Command(t, "llvm-mc", "--disassemble", "-show-encoding", "-triple="+test.triple, "-mattr="+test.features)
			cmd.Stdin = strings.NewReader(strings.Join(input, "\n"))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%.2000s", err, out)
			}
			var got []string
			for _, found := range encoding.FindAllStringSubmatch(string(out), -1) {
				got = append(got, strings.NewReplacer("0x", "", ",", "").Replace(found[1]))
			}
			if !slices.Equal(got, want) || strings.Contains(string(out), "warning") {
				t.Errorf("%d instructions, want %d: %s\n%.3000s", len(got), len(want), others(got, want), warnings(string(out)))
			}
		})
	}
}

// others are the first encodings that are not those that were wanted.
func others(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("the first other is %s for %s", got[i], want[i])
		}
	}
	return "none is another"
}

// warnings are the lines of an output that are warnings, with what these are about.
func warnings(out string) string {
	var b strings.Builder
	lines := strings.Split(out, "\n")
	for i, line := range lines {
		if strings.Contains(line, "warning") && i+1 < len(lines) {
			b.WriteString(line + "\n" + lines[i+1] + "\n")
		}
	}
	return b.String()
}
