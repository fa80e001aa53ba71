package scope

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/ax"
	"tracewell/internal/test/corpus"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
	"tracewell/symbol/expr"
)

var whole = flag.Bool("whole", false, "go through all builds")

// process is a program that GDB has stopped, as the machine of agent expressions sees it.
type process struct {
	ax.Env
	memory    *os.File
	registers map[arch.Reg][]byte
}

func (p *process) Register(r arch.Reg) (uint64, error) {
	b := p.registers[r]
	if len(b) == 0 || len(b) > 8 {
		return 0, fmt.Errorf("register %d has %d bytes", r, len(b))
	}
	return arch.Uint(b, binary.LittleEndian), nil
}

func (p *process) Ref(addr arch.Addr, size int) (uint64, error) {
	b := make([]byte, size)
	if p.read(addr, b) < size {
		return 0, errors.New("no such memory")
	}
	return arch.Uint(b, binary.LittleEndian), nil
}

func (p *process) read(addr arch.Addr, b []byte) int {
	n, _ := p.memory.ReadAt(b, int64(addr))
	return n
}

func (p *process) run(emit func(*ax.Builder) error) (uint64, error) {
	var b ax.Builder
	if err := emit(&b); err != nil {
		return 0, err
	}
	b.Emit(ax.OpEnd)
	program, err := b.Program()
	if err != nil {
		return 0, err
	}
	var m ax.Machine
	n, err := m.Value(program, p)
	return uint64(n), err
}

// value finds what is at a place.
func (p *process) value(t *ctype.Type, place expr.Place) (ctype.Value, error) {
	v := ctype.Value{Type: t, Bytes: make([]byte, t.Size)}
	switch at := place.(type) {
	case expr.Memory:
		addr, err := p.run(at.Emit)
		v.InMemory, v.Addr = true, arch.Addr(addr)
		if n := p.read(v.Addr, v.Bytes); err == nil && n < t.Size {
			err = errors.New("no such memory")
		}
		return v, err
	case expr.Register:
		b := p.registers[at.Num]
		if len(b) < at.Offset+at.Size {
			return v, fmt.Errorf("register %d is not known", at.Num)
		}
		copy(v.Bytes, b[at.Offset:at.Offset+at.Size])
	case expr.Value:
		n, err := p.run(at.Emit)
		copy(v.Bytes, binary.LittleEndian.AppendUint64(nil, n))
		return v, err
	case expr.Constant:
		copy(v.Bytes, at.Bytes)
	case expr.Absent:
		v.Holes = []ctype.Hole{{From: 0, To: t.Size, Why: ctype.OptimizedOut}}
		if at.Reason != errOptimizedOut.Error() {
			return v, errors.New(at.Reason)
		}
	case expr.Pieces:
		done := 0
		for _, piece := range at {
			part, err := p.value(ctype.ArrayOf(ctype.Int(1, false), piece.Bits/8), piece.Place)
			if err != nil {
				return v, err
			}
			copy(v.Bytes[done:], part.Bytes)
			if len(part.Holes) > 0 {
				v.Holes = append(v.Holes, ctype.Hole{From: done, To: done + piece.Bits/8, Why: ctype.OptimizedOut})
			}
			done += piece.Bits / 8
		}
		if done < t.Size { // no piece describes the rest
			v.Holes = append(v.Holes, ctype.Hole{From: done, To: t.Size, Why: ctype.OptimizedOut})
		}
	}
	return v, nil
}

// session is what the arrivals of a build have in common.
type session struct {
	*testing.T
	files                    map[string]*debuginfo.File
	compared, absent, beyond int
	unfolded                 int // children that were found in the text of GDB
}

// images are the files of the program that have debugging information, and the one that the pc is in.
func (s *session) images(a corpus.Arrival) (all []*Image, here *Image) {
	for _, object := range a.Objects {
		f := s.files[object.Path]
		if f == nil {
			var err error
			if f, err = debuginfo.Open(object.Path, debuginfo.Options{}); err != nil {
				continue
			}
			s.Cleanup(func() { f.Close() })
			s.files[object.Path] = f
		}
		_, text, ok := f.Section(".text")
		if !ok || !f.HasDWARF() {
			continue
		}
		m := New(f, object.Text-text, Options{Library: len(all) > 0, Others: func() []*Image { return all }})
		all = append(all, m)
		if here == nil && f.UnitAt(a.PC-m.bias) != nil {
			here = m
		}
	}
	return all, here
}

func (s *session) visit(a corpus.Arrival) {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", a.PID))
	if err != nil {
		s.Fatal(err)
	}
	defer memory.Close()
	_, m := s.images(a)
	if m == nil {
		s.Errorf("%s: no file has %v", a.Mark, a.PC)
		return
	}
	p := &process{memory: memory, registers: make(map[arch.Reg][]byte)}
	for _, slot := range m.options.Layout.Slots {
		digits := strings.TrimPrefix(a.Registers[slot.Reg.Name], "0x")
		if b, err := hex.DecodeString(strings.Repeat("0", max(2*slot.Size-len(digits), 0)) + digits); digits != "" && err == nil {
			slices.Reverse(b)
			p.registers[slot.Reg.Num] = b[:min(len(b), slot.Size)]
		}
	}
	scope := m.At(a.PC)
	printer := ctype.Printer{Order: binary.LittleEndian, Language: scope.Language(), Memory: p.read}
	names := make(map[string][]string)
	for _, want := range a.Values {
		names[want.Kind] = append(names[want.Kind], want.Name)
		s.compare(a.Mark, p, scope, printer, want)
	}
	s.list(a.Mark, "arguments", scope.Arguments(), names["argument"])
	// What is only a constant is no variable for the script that asks GDB.
	locals := slices.DeleteFunc(scope.Locals(), func(name string) bool {
		o, err := scope.Lookup(name)
		_, constant := o.Place.(expr.Constant)
		return err == nil && constant && !slices.Contains(names["local"], name)
	})
	s.list(a.Mark, "locals", locals, names["local"])
}

// list compares names, whose order within a block is GDB's own.
func (s *session) list(mark, kind string, got, want []string) {
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		s.Errorf("%s: the %s are %q, by GDB %q", mark, kind, got, want)
	}
}

// symbols are what GDB writes behind an address; errors and repetitions begin with other letters than those of this test's programs.
var symbols = regexp.MustCompile(`(0x[0-9a-f]+) <[^er<>](?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>`)

var npos = regexp.MustCompile(`static npos = [^,]*, `)

func (s *session) compare(mark string, p *process, scope *Scope, printer ctype.Printer, want corpus.Value) {
	if want.Error != "" {
		return // most often GDB cannot read what it writes itself
	}
	o, err := scope.Lookup(want.Name)
	if err != nil {
		s.Errorf("%s %s %s: %v, GDB has %s%s", mark, want.Kind, want.Name, err, want.Text, want.Error)
		return
	}
	if o.Type != nil && o.Type.Bound != nil {
		length, err := scope.Length(o.Type.Bound)
		if err != nil {
			if s.absent++; !want.Absent || !strings.Contains(err.Error(), "optimized out") {
				s.Errorf("%s %s %s: its length: %v, GDB has %s", mark, want.Kind, want.Name, err, want.Text)
			}
			return
		}
		n, err := p.run(length)
		if err != nil {
			s.Errorf("%s %s %s: its length: %v, GDB has %s", mark, want.Kind, want.Name, err, want.Text)
		}
		o.Type = ctype.ArrayOf(o.Type.Elem, int(min(n, 1<<20)))
	}
	v, err := p.value(o.Type, o.Place)
	if err != nil {
		if s.beyond++; !beyond(err, s.Name(), want) {
			s.Errorf("%s %s %s: %v, GDB has %s%s", mark, want.Kind, want.Name, err, want.Text, want.Error)
		}
		return
	}
	s.compared++
	if want.Absent {
		s.absent++
	}
	got, text := string(printer.Print(nil, v)), symbols.ReplaceAllString(want.Text, "$1")
	// DWARF 4 says nothing of npos: GDB finds it by the name that it would have in the library, which is mangled.
	got, text = npos.ReplaceAllString(got, ""), npos.ReplaceAllString(text, "")
	// GDB 13.1 does not find the definition of a class in another split unit than the variable's.
	split := strings.HasSuffix(s.Name(), "-split") && text == "<incomplete type>"
	// Bytes behind the last piece that DWARF describes are a pointer to GDB 13.1 that is only implied.
	text = strings.ReplaceAll(text, "<synthetic pointer>", "<optimized out>")
	if got != text && !split {
		s.Errorf("%s %s %s of type %v is\n%s, by GDB\n%s%s", mark, want.Kind, want.Name, o.Type, got, text, want.Error)
		return
	}
	if v.Type.Kind == ctype.Record && !split {
		u := unfolding{session: s, Printer: printer, where: mark + " " + want.Name, all: text, rest: text, bases: make(map[string]bool)}
		u.unfold(v)
	}
}

// unfolding holds the children of a value against what GDB prints of it: each stands there by its name and with its value, behind
// the one before it.
type unfolding struct {
	*session
	ctype.Printer
	where, all, rest string
	bases            map[string]bool // virtual ones are printed once, and are children wherever they are named
}

func (u *unfolding) unfold(v ctype.Value) {
	for c := range u.Children(v) {
		name := c.Name + " = "
		switch {
		case c.Role == ctype.ElementChild || c.Role == ctype.BaseChild && u.bases[c.Name] || c.Name == "npos":
			continue
		case c.Role == ctype.BaseChild:
			u.bases[c.Name], name = true, "<"+c.Name+"> = "
		case c.Role == ctype.StaticChild:
			name = "static " + name
		case c.Name == "" || u.Language == ctype.Rust && c.Name[0] <= '9':
			name = ""
		case u.Language == ctype.Rust:
			name = c.Name + ": "
		}
		record := c.Missing == "" && c.Value.Type.Kind == ctype.Record
		text := c.Missing
		if !record && text == "" {
			text = string(u.AppendValue(nil, c.Value))
		}
		if text == "<optimized out>" && strings.Contains(u.rest, name+"["+text) {
			name += "[" // of an array in a record GDB may print each element that is missing
		}
		name += text
		i := strings.Index(u.rest, name)
		if i < 0 {
			u.Errorf("%s: the child %q is not in\n%s of\n%s", u.where, name, u.rest, u.all)
			return
		}
		u.rest = u.rest[i+len(name):]
		if u.unfolded++; record && c.Role != ctype.StaticChild {
			bases := u.bases
			if c.Role != ctype.BaseChild {
				u.bases = make(map[string]bool) // another object
			}
			u.unfold(c.Value)
			u.bases = bases
		}
	}
}

// beyond reports whether values that GDB has cannot be had with agent expressions, or by who only knows the file: code that is
// not optimised has none of the former. What a function was passed is known wherever GDB knows it but for vector registers,
// and where the caller says no more than that it hands on what it was passed itself.
func beyond(err error, build string, want corpus.Value) bool {
	if strings.Contains(err.Error(), "entry value of") && want.Absent {
		return true
	}
	for _, reason := range []string{"entry value of $xmm", "synthetic pointer", "floating-point", "8 bytes at 0x0: no such memory"} {
		if strings.Contains(err.Error(), reason) {
			return !strings.Contains(build, "-O0")
		}
	}
	return strings.Contains(err.Error(), "storage of a shared library")
}

// names are what is asked for besides the variables in sight, by mark.
var names = map[string][]string{
	"integers":    {"'pieces.c'::counter", "'main.c'::counter", "records::items", "READ", "main.origin"},
	"mix":         {"counter", "'main.c'::counter", "::ticks"},
	"polymorphic": {"geo::Unit::foot", "geo::offset", "app::verbose", "app::fixed", "secret", "Square::made", "geo::Named::made", "::geo::Square::made"},
	"area":        {"made", "Named::made", "::geo::Named::made", "hidden", "offset", "Unit::metre"},
	"loop":        {"depth", "verbose", "app::inner::depth", "fixed"},
	"numbers":     {"main::limits::COUNT", "limits::LIMIT", "::main::limits::LIMIT"},
}

// TestAsGDB compares every variable in sight at the marks of programs in four languages with what GDB's print says.
func TestAsGDB(t *testing.T) {
	builds := corpus.Few()
	if *whole {
		builds = corpus.Builds
	}
	for _, b := range builds {
		t.Run(b.String(), func(t *testing.T) {
			s := &session{T: t, files: make(map[string]*debuginfo.File)}
			corpus.Visit(t, corpus.Compile(t, b), 2, names, s.visit)
			t.Logf("%d values compared, %d of them optimised out, %d beyond agent expressions; %d children", s.compared, s.absent, s.beyond, s.unfolded)
			if s.compared < 50 || s.unfolded < 20 {
				t.Errorf("only %d values were compared, with %d children", s.compared, s.unfolded)
			}
		})
	}
}
