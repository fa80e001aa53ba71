package scope

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/testtool"
	"tracewell/symbol/ctype"
	"tracewell/symbol/debuginfo"
)

func openImage(t *testing.T, path string) *Image {
	t.Helper()
	f, err := debuginfo.Open(path, debuginfo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return New(f, 0, Options{})
}

// queue is a program without optimisation, whose source is in the tests of package cli.
func queue(t *testing.T) *Image { return openImage(t, "../../tfile/testdata/queue") }

// described writes a type with its members.
func described(t *ctype.Type) string {
	text := fmt.Sprintf("%v %d", t, t.Size)
	if t.Kind != ctype.Record {
		return text
	}
	var fields []string
	for _, f := range t.Fields() {
		fields = append(fields, fmt.Sprintf("%d %s %v", f.Offset, f.Name, f.Type))
	}
	return text + " {" + strings.Join(fields, "; ") + "}"
}

func TestFixed(t *testing.T) {
	m := queue(t)
	for name, want := range map[string]string{
		"q":     "0x404080 struct queue 32 {0 head struct job *; 8 tail struct job *; 16 count unsigned int; 24 checksum unsigned long}",
		"limit": "0x404030 int 4",
		"table": "0x404040 unsigned char [16] 16",
	} {
		addr, typ, ok := m.Fixed(name)
		if !ok {
			t.Errorf("there is no %s", name)
		} else if got := addr.String() + " " + described(typ); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"push", "j", "nothing"} {
		if _, _, ok := m.Fixed(name); ok {
			t.Errorf("%s is a variable with a fixed address", name)
		}
	}
	job, ok := m.Type("struct job")
	if want := "struct job 40 {0 id int; 4 kind enum kind; 8 weight double; 16 name char [12]; 32 next struct job *}"; !ok || described(job) != want {
		t.Errorf("%s (%v), want %s", described(job), ok, want)
	}
	if next, _ := job.Field("next"); next.Type.Elem != job {
		t.Error("next does not point to the structure that it is in")
	}
	if value, kind, ok := m.Constant("LAST"); !ok || value != 2 || kind.Name != "enum kind" {
		t.Errorf("LAST is %d of %v (%v)", value, kind, ok)
	}
	if names := strings.Join(m.FixedNames(), " "); !strings.Contains(names, "limit") || !strings.Contains(names, "q") {
		t.Errorf("the variables are %s", names)
	}
}

// TestFrame in the middle of functions, and outside of any.
func TestFrame(t *testing.T) {
	m := queue(t)
	for pc, want := range map[arch.Addr]string{
		0x4011b5: "qq struct queue * -24, j struct job * -32",
		0x401247: "n int -36, sum long -24",
		0x401256: "i int -28, n int -36, sum long -24",
		0x1000:   "",
	} {
		var got []string
		for _, l := range m.At(pc).Frame() {
			if l.Kind != InFrame {
				t.Errorf("%s is in place %d", l.Name, l.Kind)
			}
			got = append(got, fmt.Sprintf("%s %v %d", l.Name, l.Type, l.Offset))
		}
		if all := strings.Join(got, ", "); all != want {
			t.Errorf("at %v: %s, want %s", pc, all, want)
		}
	}
}

// TestNil: no file knows nothing.
func TestNil(t *testing.T) {
	var m *Image
	_, _, global := m.Fixed("q")
	_, named := m.Type("int")
	_, _, constant := m.Constant("LAST")
	if global || named || constant || m.FixedNames() != nil {
		t.Error("nothing knows something")
	}
}

// TestOtherMachine: of a program for another machine variables and types are known, and that what lies in its registers is not.
func TestOtherMachine(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	text := "struct s { char c; long n; unsigned f : 3, g : 7; } value;\nint twice(int n) { int k = 2 * n; return k; }\nvoid _start(void) { twice(3); }\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	command := testtool.Command(t, "gcc", "-m32", "-g", "-O0", "-fno-pic", "-no-pie", "-nostdlib", "-static", "-Wl,-Ttext=0x8049000", "-o", program, source)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	m := openImage(t, program)
	addr, typ, ok := m.Fixed("value")
	if !ok || addr>>32 != 0 || described(typ) != "struct s 12 {0 c char; 4 n long; 8 f unsigned int; 8 g unsigned int}" {
		t.Errorf("value is at %v, %v", addr, typ)
	}
	twice := m.file.Functions("twice")
	e, err := m.file.Entry(twice[0])
	if err != nil {
		t.Fatal(err)
	}
	s := m.At(m.file.Ranges(e)[0].Begin + 4)
	if abi := s.ABI(); abi.Pointer != 4 || len(s.Frame()) != 2 || s.Frame()[0].Kind != InFrame {
		t.Errorf("pointers of %d bytes, frame %v", abi.Pointer, s.Frame())
	}
	if o, err := s.Lookup("k"); err != nil || !strings.Contains(fmt.Sprint(o.Place), "those of 386 are not known") {
		t.Errorf("k is %v, %v", o.Place, err)
	}
	if _, err := s.Register("eax"); err == nil {
		t.Error("there is a register")
	}
}

// TestBitFields places a field of three bits behind five others, as DWARF 5 and DWARF 3 write it.
func TestBitFields(t *testing.T) {
	for _, standard := range []string{"-gdwarf-5", "-gdwarf-3"} {
		dir := t.TempDir()
		source, program := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
		if err := os.WriteFile(source, []byte("struct s { int x; unsigned a : 5, f : 3; } v;\nvoid _start(void) {}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		command := testtool.Command(t, "gcc", standard, "-gstrict-dwarf", "-nostdlib", "-static", "-o", program, source)
		if output, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, output)
		}
		m := openImage(t, program)
		_, typ, _ := m.Fixed("v")
		f, ok := typ.Field("f")
		if !ok || f.Offset != 4 || f.Shift != 5 || f.Bits != 3 {
			t.Errorf("%s: %+v", standard, f)
		}
		if n := f.Extract([]byte{5 << 5}, m.file.Order()); n != 5 {
			t.Errorf("%s: the field holds %d", standard, n)
		}
	}
}
