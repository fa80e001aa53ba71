//go:build linux && amd64

package recordtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tracewell/internal/test/randprog"
)

// rareMembers are the expressions to compare: those written out, and each member of the structure of rare types.
var rareMembers = map[string]struct {
	language randprog.Language
	record   string   // how its members are named
	members  []string // of the structure
	more     []string
}{
	"rare.c": {randprog.C, "x->", strings.Fields(`packed nameless bits aligned overlaid empty empties none nothing negative named other all_ones
		unknown unsigned8 signed8 wide minus one two stranger zero three seven doubled floats bytes i128 u128 extended smallest
		complex_float complex_extended c16 c32 wc test handlers vc r atomic rows s cs u8 i8 ip zeros run quad`),
		[]string{"*x", "*text", "*ints", "text->text[1]", "ints->list[0]@2", "rows", "rows[2]", "characters", "sizeof rows", "N1", "N200",
			"U_MAX", "P200", "S_100", "W33", "W_1", "x->packed.c", "x->bits.z", "x->nameless.high", "x->nameless.named.c", "x->bytes[1]",
			"x->floats[1]"}},
	"rare.cc": {randprog.CPP, "x->", strings.Fields(`with_empty bottom smaller derived member second none method no_method virtual_method
		shared_method negative wide bits number list text32 wide_text rvalue array to_member`),
		[]string{"*x", "x->bottom.shared", "x->bottom.Left::left", "x->smaller.shared", "x->derived.y", "x->derived.K", "x->derived.KC",
			"x->derived.KL", "Members::K", "Members::KD", "Members::KB", "Negative::c", "WideAll", "x->bits.l", "x->bits.i", "x->number.exponent"}},
	"rare.rs": {randprog.Rust, "(*x).", strings.Fields(`none some nested byte no_word word signed reference boxed no_box letter listed unlisted
		low minus data pair named nothing wide text no_text tagged other last result order most least unit empty some_unit shared
		list string cell function slice real big behind`), []string{"(*x).big[69999]"}},
}

// more are members that only one compiler has.
var ofCompiler = map[string][]string{
	"gcc": {"half", "complex_quad", "f64x", "swapped", "swapped.i", "swapped.u", "swapped.v", "swapped.f"}, "clang": {"bit7", "bit33", "bit100", "bit17"},
}

var look = regexp.MustCompile(`@look`)

// TestRareTypes is TestGeneratedPrograms for types that random programs do not have.
func TestRareTypes(t *testing.T) {
	builds := randprog.Few()
	if *whole {
		builds = randprog.Builds()
	}
	var total tally
	t.Cleanup(func() { t.Logf("all programs: %v", total.counts) })
	for name, rare := range rareMembers {
		source, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		mark := randprog.Mark{Line: 1 + strings.Count(string(source[:look.FindIndex(source)[0]]), "\n")}
		for _, b := range builds {
			if b.Language != rare.language {
				continue
			}
			here := mark
			for _, member := range append(rare.members, ofCompiler[filepath.Base(b.Compiler)]...) {
				here.Members = append(here.Members, randprog.Member{Path: rare.record + member})
			}
			for _, expression := range rare.more {
				here.Members = append(here.Members, randprog.Member{Path: expression})
			}
			p := &randprog.Program{Language: rare.language, Source: string(source), Marks: []randprog.Mark{here}}
			t.Run(b.String()+" "+name, func(t *testing.T) {
				t.Parallel()
				g := generated{Program: p, total: &total, path: p.Compile(t, b)}
				g.observe(t)
				g.record(t)
				g.judge(t)
			})
		}
	}
}
