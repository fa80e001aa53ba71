package producers

import (
	"bytes"
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracewell/internal/test/dialecttest"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/itrace/match"
	"tracewell/itrace/match/profile"
)

// piece is an instruction of a trace with its lines.
type piece struct {
	pc      uint64
	trapped bool
	// conditional says that it is SC, whose result may differ where nothing tells whether it has stored.
	conditional bool
	lines       []string
	effects     []itrace.Record
}

// pieces cuts a trace into what stands in front of its first instruction, and its instructions.
func pieces(t *testing.T, text []byte) (head string, all []piece) {
	lines := strings.SplitAfter(string(text), "\n")
	last := int64(0)
	take := func(to int64) {
		if n := len(all); n > 0 {
			all[n-1].lines = lines[last:to]
		} else {
			head = strings.Join(lines[:to], "")
		}
		last = to
	}
	for _, r := range dialecttest.Read(t, dialects.All.Detect(text).Dialect, bytes.NewReader(text), 512) {
		switch r.Kind {
		case itrace.Instruction:
			take(r.Line - 1)
			all = append(all, piece{pc: r.Addr, trapped: r.Trapped, conditional: r.Value&0xf800007f == 0x1800002f})
		case itrace.Register, itrace.Memory:
			all[len(all)-1].effects = append(all[len(all)-1].effects, r)
		}
	}
	take(int64(len(lines)))
	return head, all
}

func joined(head string, all ...[]piece) []byte {
	var out strings.Builder
	out.WriteString(head)
	for _, p := range slices.Concat(all...) {
		for _, line := range p.lines {
			out.WriteString(line)
		}
	}
	return []byte(out.String())
}

// fault changes a trace at an instruction. It is nil where it cannot.
type fault func(head string, all []piece, at int) []byte

// flipped has another digit for each.
var flipped = func() map[rune]rune {
	const digits, others = "0123456789abcdefABCDEF", "1032547698badcfeBADCFE"
	of := make(map[rune]rune)
	for i, c := range digits {
		of[c] = rune(others[i])
	}
	return of
}()

// wrongValue flips a bit of what an instruction writes to a register, wrongStore of what it stores.
func wrongValue(head string, all []piece, at int) []byte {
	return wrong(head, all, at, itrace.Register)
}
func wrongStore(head string, all []piece, at int) []byte { return wrong(head, all, at, itrace.Memory) }

func wrong(head string, all []piece, at int, kind itrace.Kind) []byte {
	for _, r := range all[at].effects {
		if r.Kind != kind || r.Zero || r.System || kind == itrace.Memory && !r.Write || len(r.Digits) == 0 || all[at].conditional {
			continue
		}
		for i, line := range all[at].lines {
			place := strings.LastIndex(line, string(r.Digits))
			if place < 0 || strings.Count(line, string(r.Digits)) > 1 {
				continue
			}
			place += len(r.Digits) - 1
			changed := slices.Clone(all[at].lines)
			changed[i] = line[:place] + strings.Map(func(c rune) rune { return flipped[c] }, line[place:place+1]) + line[place+1:]
			return joined(head, all[:at], []piece{{lines: changed}}, all[at+1:])
		}
	}
	return nil
}

// dropped leaves an instruction out, but for one that stands several times in a row, or that had an exception, as the other trace may
// not have a line for it.
func dropped(head string, all []piece, at int) []byte {
	if all[at].trapped || all[at-1].pc == all[at].pc || all[at+1].pc == all[at].pc {
		return nil
	}
	return joined(head, all[:at], all[at+1:])
}

// wrongBranch has a branch go the other way, as it does elsewhere in the trace, until that comes to where the program was.
func wrongBranch(head string, all []piece, at int) []byte {
	const far = 60
	for other := range len(all) - far {
		if all[other].pc != all[at].pc || all[other+1].pc == all[at+1].pc {
			continue
		}
		for n := range far {
			for k := range n + 1 {
				if at+1+n-k < len(all) && all[other+1+k].pc == all[at+1+n-k].pc {
					return joined(head, all[:at+1], all[other+1:other+1+k], all[at+1+n-k:])
				}
			}
		}
	}
	return nil
}

var places = flag.Int("places", 3, "at how many places TestPlantedAcrossProducers plants each fault")

// TestPlantedAcrossProducers compares traces of two producers under a profile: they are equal, and with a fault in one of them the fault
// is told and nothing else.
func TestPlantedAcrossProducers(t *testing.T) {
	for _, pair := range []struct{ profile, reference, other string }{
		{"spike-ibex", "plain.spike", "plain.ibex"}, {"spike-ibex", "plain.ibex", "plain.spike-commits"},
		{"spike-picorv32", "plain.spike", "plain.picorv32"}, {"spike-picorv32", "plain.ibex", "plain.picorv32"},
		{"spike-picorv32", "plain.spike", "plain.picorv32-showtrace"}, {"spike-picorv32", "plain.ibex", "plain.picorv32-showtrace"},
		{"riscv-rtl", "plain.rvvi-0.4", "plain.ibex"}, {"riscv-iss", "plain.spike", "plain.rvvi-0.4"},
		{"spike-qemu", "plain.spike", "plain.qemu-execlog102-some"}, {"flow", "plain.spike", "plain.qemu-exec"},
		{"flow", "plain.qemu-steps", "plain.ibex"}, {"riscv-iss", "rv64.spike", "rv64.rvvi-0.4"},
		{"spike-dromajo", "rv64.spike", "rv64.dromajo"}, {"spike-dromajo", "rv64.spike-commits", "rv64.dromajo"},
		{"riscv-iss", "rv64.rvvi-0.4", "rv64.spike-commits"}, {"riscv-iss", "rv64.dromajo", "rv64.rvvi-0.4"},
		{"spike-ibex", "plain.ibex-2024", "plain.rvvi-0.1"}, {"flow", "rv64.spike-commits", "rv64.spike-l"},
	} {
		t.Run(pair.reference+" "+pair.other, func(t *testing.T) {
			t.Parallel()
			p, err := profile.ByName(pair.profile)
			if err != nil {
				t.Fatal(err)
			}
			options := p.Apply(match.Options{MaxDifferences: 5})
			reference, other := recorded(t, pair.reference), recorded(t, pair.other)
			equal := matched(t, reference, other, options)
			if equal.Verdict != match.Equal || equal.Consequences > 0 {
				t.Fatalf("%s %s %v", equal.Verdict, equal.Reason, equal.Counts)
			}
			flow, lacks := pair.profile == "flow", untold(equal)
			head, all := pieces(t, other)
			random := rand.New(rand.NewPCG(1, uint64(len(other))))
			for _, f := range []struct {
				name    string
				plant   fault
				classes []match.Class
			}{
				{"value", wrongValue, []match.Class{match.ClassRegister}},
				{"store", wrongStore, []match.Class{match.ClassMemory}},
				{"drop", dropped, []match.Class{match.ClassMissing, match.ClassLoop}},
				{"branch", wrongBranch, []match.Class{match.ClassPC, match.ClassMissing, match.ClassExtra, match.ClassLoop, match.ClassHandler}},
			} {
				if f.name == "value" && flow || f.name == "store" && (flow || lacks["stores"]+lacks["data of stores"] != "") {
					continue // what one does not tell cannot be wrong
				}
				found := 0
				for range 40 * *places {
					at := 40 + random.IntN(len(all)-80)
					faulty := f.plant(head, all, at)
					if faulty == nil {
						continue
					}
					r := matched(t, reference, faulty, options)
					if len(r.Counts) != 1 || len(r.Differences) != 1 || !slices.Contains(f.classes, r.Differences[0].Class) {
						t.Errorf("%s at instruction %d, 0x%x: %s %s %v, %d consequences, rules %v", f.name, at, all[at].pc, r.Verdict, r.Reason,
							r.Counts, r.Consequences, fired(r))
						for _, d := range r.Differences {
							t.Logf("  %s %s: %+v %+v", d.Class, d.Note, d.Reference, d.Other)
						}
					}
					if found++; found == *places {
						break
					}
				}
				if found < *places && f.name != "store" {
					t.Errorf("%s: %d places", f.name, found)
				}
			}
		})
	}
}
