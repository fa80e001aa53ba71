package reply

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/trace"
)

// anyForm is a form whatever its content is.
type anyForm struct {
	name string
	// rewrite reads a reply and writes it again.
	rewrite func(text string) (string, error)
	// try writes a random content and reads it again.
	try func(t *testing.T, r *rand.Rand)
	// texts are replies of gdbserver, QEMU or Tracewell that are written as they are read.
	texts []string
}

func of[R any](name string, form *Form[R], random func(r *rand.Rand) R, texts ...string) anyForm {
	return anyForm{name, func(text string) (string, error) {
		content, err := form.Parse(text)
		return string(form.Append(nil, content)), err
	}, func(t *testing.T, r *rand.Rand) {
		want := random(r)
		text := string(form.Append([]byte("before"), want))
		got, err := form.Parse(strings.TrimPrefix(text, "before"))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Fatalf("%s: %+v is written as %q, %v (-written +read):\n%s", name, want, text, err, diff)
		}
	}, texts}
}

// pick chooses among values around boundaries.
func pick[T any](values ...T) func(r *rand.Rand) T {
	return func(r *rand.Rand) T { return values[r.IntN(len(values))] }
}

var (
	number  = pick[uint64](0, 1, 0xf, 0x10, math.MaxInt32, 1<<32, math.MaxInt64, 1<<63, math.MaxUint64)
	address = func(r *rand.Rand) arch.Addr { return arch.Addr(number(r)) }
	on      = pick(false, true)
	small   = pick(0, 1, 0x10, math.MaxInt32)
	text    = pick("", "a", "\x00\xff", "OK", "E01", "l", "m", "}#$*:;,", strings.Repeat("x", 300))
	some    = func(r *rand.Rand) []byte { return []byte("x" + text(r)) }
	maybe   = pick(nil, []byte{0}, []byte("xx"), []byte("l"), []byte{0xee, 0x01})
	thread  = pick(rsp.Thread{TID: 1}, rsp.Thread{TID: rsp.AllThreads}, rsp.Thread{PID: 0x91, TID: 0x92, Multiprocess: true})
	none    = func(*rand.Rand) (n None) { return n }
)

func list[T any](least int, item func(*rand.Rand) T) func(r *rand.Rand) []T {
	return func(r *rand.Rand) (all []T) {
		for range least + r.IntN(4) {
			all = append(all, item(r))
		}
		return all
	}
}

func anyBlock(r *rand.Rand) (b Block) {
	allThere := on(r)
	for range r.IntN(20) {
		there := allThere || on(r)
		if b.Available = append(b.Available, there); there {
			b.Bytes = append(b.Bytes, byte(r.Uint32()))
		} else {
			b.Bytes = append(b.Bytes, 0)
		}
	}
	if !slices.Contains(b.Available, false) {
		b.Available = nil
	}
	return b
}

func anyResult(r *rand.Rand) Result {
	if on(r) {
		return Result{Failed: true, Errno: small(r)}
	}
	f := Result{Number: pick[int64](0, 1, 0x40, math.MaxInt64)(r), Has: on(r)}
	if f.Has {
		f.Content = maybe(r)
	}
	return f
}

// forms are all of the package but for stop replies, which have tests of their own.
var forms = []anyForm{
	of("OK", OK, none, "OK"),
	of("Current", Current, thread, "QCp91.92", "QC1"),
	of("Threads", Threads, list(0, thread), "mp91.91,p91.92", "l"),
	of("Attached", Attached, on, "1", "0"),
	of("Text", Text, text, "6869"),
	of("Bytes", Bytes, maybe, "00ff"),
	of("Binary", Binary, maybe, "b", "b\x00#"),
	of("Registers", Registers, anyBlock, "0001xxxx02", "xx", "ff"),
	of("Address", Address, address, "7ffff7d8a740"),
	of("Items", Items, list(1, func(r *rand.Rand) Item {
		return Item{pick("pid", "triple")(r), pick("", "91", "7838365f3634")(r)}
	}), "pid:91;endian:little;", "start:1000;size:1000;permissions:rx;"),
	of("Written", Written, number, "80"),
	of("Checksum", Checksum, func(r *rand.Rand) uint32 { return uint32(number(r)) }, "C1234abcd"),
	of("Search", Search, func(r *rand.Rand) (m Match) {
		if m.Found = on(r); m.Found {
			m.Addr = address(r)
		}
		return m
	}, "0", "1,404040"),
	of("Object", Object, func(r *rand.Rand) Part {
		if on(r) {
			return Part{More: true, Bytes: some(r)}
		}
		return Part{Bytes: maybe(r)}
	}, "l", "l<?xml", "m\x00"),
	of("File", File, anyResult, "F0", "F0;", "F3;a;b", "F-1,9", "F-1", "F40"),
	of("Status", Status, func(r *rand.Rand) (s trace.Status) {
		s = trace.Status{Running: on(r), Frames: 3, Created: 4, Free: 5, Size: 6, Circular: on(r), Disconnected: on(r), User: "me"}
		return s
	}, "T0;tnotrun:0;tframes:0;tcreated:0;tfree:500000;tsize:500000;circular:0;disconn:0;starttime:0;stoptime:0;username:;notes:"),
	of("Hits", Hits, func(r *rand.Rand) Counts { return Counts{number(r), number(r)} }, "V0:0", "V1f:200"),
	of("Value", Value, func(r *rand.Rand) (v Variable) {
		if v.Known = on(r); v.Known {
			v.Value = int64(number(r))
		}
		return v
	}, "U", "V0", "Vffffffffffffffff"),
	of("Frame", Frame, func(r *rand.Rand) Selection {
		return pick(Selection{}, Selection{Live: true}, Selection{Found: true, Number: small(r), Tracepoint: small(r)})(r)
	}, "F-1", "OK", "F1fT2"),
	of("Buffer", Buffer, func(r *rand.Rand) []byte { return pick(nil, some(r))(r) }, "l", "0100ee"),
	of("Markers", Markers, list(0, func(r *rand.Rand) Marker { return Marker{address(r), text(r), text(r)} }),
		"l", "m401136:61:", "m401136:61:62,401140::"),
	of("Variables", Variables, func(r *rand.Rand) []trace.Variable {
		v := trace.Variable{Number: 1, Initial: int64(number(r)), Builtin: on(r), Name: "x" + text(r)}
		return pick(nil, []trace.Variable{v})(r)
	}, "l", "1:0:1:74726163655f74696d657374616d70"),
	of("Console", Console, text, "O6869", "O"),
	of("Relocation", Relocation, func(r *rand.Rand) Copy { return Copy{address(r), address(r)} }, "qRelocInsn:401136;7ffff7ff0000"),
}

// TestForms writes random contents of every form and reads them again, and reads real replies and writes them again.
func TestForms(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 2))
	for _, f := range forms {
		for range 300 {
			f.try(t, r)
		}
		for _, text := range f.texts {
			if got, err := f.rewrite(text); err != nil || got != text {
				t.Errorf("%s: %q is written as %q, %v", f.name, text, got, err)
			}
		}
	}
}

// TestStrict has what no form takes, and what is only close to a reply.
func TestStrict(t *testing.T) {
	wrong := map[string]string{
		"OK": "O|K|OKAY|ok", "Current": "QC|C1|QCp1.2x|QCp-1.5", "Threads": "m|mp1.1,|,|lx|m1;2", "Attached": "2|01|10", "Text": "6|zz|6 ",
		"Bytes": "0|0x|00f", "Binary": "00", "Items": "|pid|pid:1|pid:1;x|;", "Registers": "0|x|0x|x0|xxx|000", "Address": "|-1|10000000000000000|0x1", "Written": "|g",
		"Checksum": "C|1|C100000000", "Search": "1|1,|2|0,1|1;1", "Object": "m|x|E01|M0", "File": "F|F;|0|F-2|F1,|F-1,|F-1,g|F-1,1x",
		"Status": "T|T2|1|T1;x", "Hits": "V|V1|V1:|V:1|1:1|V1:1:1", "Value": "V|u|UV|V1 |V10000000000000000", "Frame": "F|F1|F1T|FT1|F-2|OKF",
		"Buffer": "L|0|lx|0l", "Markers": "m|m1|m1:61|m1:6:|m1:61:62,", "Variables": "L|1|1:2", "Console": "|o|O6|OK",
		"Relocation": "qRelocInsn:1|qRelocInsn:;1|1;2|qRelocInsn:1;2;3",
	}
	for _, f := range forms {
		if wrong[f.name] == "" {
			t.Errorf("%s: nothing that it rejects", f.name)
		}
		for text := range strings.SplitSeq(wrong[f.name], "|") {
			var syntax *rsp.SyntaxError
			if got, err := f.rewrite(text); !errors.As(err, &syntax) || syntax.Offset > len(syntax.Text) {
				t.Errorf("%s takes %q, as %q, %v", f.name, text, got, err)
			}
		}
	}
}

// TestBlock looks at parts of a block, of which some bytes are not available.
func TestBlock(t *testing.T) {
	b := Block{Bytes: []byte{1, 2, 0, 4}, Available: []bool{true, true, false, true}}
	for offset := range b.Bytes {
		for size := range len(b.Bytes) - offset + 1 {
			missing := offset <= 2 && 2 < offset+size
			if b.Has(offset, size) == missing {
				t.Errorf("Has(%d, %d) = %v", offset, size, !missing)
			}
			want := "0102xx04"[2*offset : 2*(offset+size)]
			if got := string(Registers.Append(nil, b.Part(offset, size))); got != want {
				t.Errorf("Part(%d, %d) is written as %q, want %q", offset, size, got, want)
			}
		}
	}
	whole := Block{Bytes: []byte{1, 2}}
	if part := whole.Part(1, 1); !whole.Has(0, 2) || part.Available != nil || string(part.Bytes) != "\x02" {
		t.Errorf("part of a block of which all is available: %+v", part)
	}
}

// FuzzForms reads any reply by every form: what is rejected is so by a syntax error inside the text, and what is read is the same
// when it is written and read again.
func FuzzForms(f *testing.F) {
	for _, form := range forms {
		for _, text := range form.texts {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range forms {
			written, err := form.rewrite(text)
			var syntax *rsp.SyntaxError
			if errors.As(err, &syntax) && syntax.Offset <= len(syntax.Text) {
				continue
			}
			if twice, failed := form.rewrite(written); err != nil || failed != nil || twice != written {
				t.Errorf("%s: %q, %v, is written as %q, and that as %q, %v", form.name, text, err, written, twice, failed)
			}
		}
	})
}
