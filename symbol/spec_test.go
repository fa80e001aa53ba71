package symbol

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tracewell/arch"
	"tracewell/internal/test/corpus"
)

// forms are ways to write a location, by the folder of a program's sources. GDB is asked about each of them.
var forms = map[corpus.Language][]string{
	corpus.C: {
		"main", "*main", "*main+4", "*&main", "*(&main)", "*main + 4 - 2", "main.c:main", "-function main", "-source main.c -line 60",
		"-line 60", "60", "'main.c':60", "-source main.c -function main", "-function main -line 70", "nonsuch", "main.c:nonsuch",
		"nonsuch.c:3", "main.c:9999", "main.c:1", "store.h:20", "_start", "-qualified main", "-q main", "-func main", "main.c : 60",
	},
	corpus.CPP: {
		"largest", "largest<int>", "largest<long>(long,long)", "int largest<int>(int, int)", "put", "Ring<int, 3>::put",
		"Ring<int,3>::put", "geo::Ring::put", "Ring::put", "geo::Shape::Shape", "area", "Square::area", "geo::Named::Named", "Named", "Named::Named",
		"guarded(int)", "guarded()", "guarded (int)", "references(int const&,app::Pair&,int&&)",
		"references(const int &, app::Pair &, int &&)", "operator()", "Counter::operator()", "operator<", "app::Pair::operator<",
		"Pair::operator <", "captured", "~Shape", "Shape::~Shape", "captured(int)::{lambda(int)#1}::operator()", "geo::Square::scaled",
		"geo::Shape::scaled(int)", "geo::Shape::scaled(int) const", "geo::Shape::scaled() const", "main.cc:captured", "shapes.h:captured",
		"shapes.h:put", "std::forward", "forward<app::Pair>", "-qualified largest", "-qualified put", "-qualified captured",
		"-qualified geo::Ring<int, 3>::put", "-function put", "::main", "::captured", "geo", "app::inner", "secret", "add", "Counter",
		"_ZN7Counter3addEi", "-function Counter::add(int)", "'Counter::add(int)'", "Pair::add", "main.cc:Counter::add",
	},
	corpus.Go: {
		"main.main", "main.add", "main.(*square).area", "'main.(*square).area'", "main.closures", "main.closures.func1", "runtime.main",
		"runtime.mallocgc", "main.nonsuch", "main.go:35", "*main.add", "main.go:main.add",
	},
	corpus.Rust: {
		"main::main", "main::generic<i32>", "main::generic<f32>", "main::stock::Item::cost", "main::area", "main.rs:50", "*main::area",
		"-function main::area", "main.rs:main::area", "main::nonsuch",
	},
}

// beyond are forms that mean something here and nothing to GDB: they take the functions that these other forms name.
var beyond = map[corpus.Language]map[string][]string{
	corpus.Rust: {"main::generic": {"main::generic<i32>", "main::generic<f32>"}, "area": {"main::area"}},
}

func TestFormsOfGDB(t *testing.T) {
	for _, b := range corpus.Few() {
		t.Run(b.String(), func(t *testing.T) {
			built := corpus.Compile(t, b)
			p, err := Open(built.Path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			specs := forms[b.Language]
			want := askGDB(t, built.Path, specs)
			for _, spec := range specs {
				if got, err := locate(p, spec); !agree(p.Main(), spec, got, want[spec]) {
					t.Errorf("%s: %v (%v), GDB has %v", spec, got, err, want[spec])
				}
			}
			for spec, means := range beyond[b.Language] {
				var together []arch.Addr
				for _, m := range means {
					some, _ := locate(p, m)
					together = append(together, some...)
				}
				slices.Sort(together)
				if got, err := locate(p, spec); !slices.Equal(got, together) {
					t.Errorf("%s: %v (%v), want %v", spec, got, err, together)
				}
			}
		})
	}
}

func locate(p *Program, spec string) ([]arch.Addr, error) {
	var got []arch.Addr
	locations, err := p.Locate(spec)
	for _, l := range locations {
		got = append(got, l.Addr)
	}
	return got, err
}

// TestMessages: what is wrong with a location is said with what may have been meant.
func TestMessages(t *testing.T) {
	built := corpus.Compile(t, corpus.Few()[0])
	p, err := Open(built.Path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for spec, want := range map[string]string{
		"mian":              "no function mian; did you mean main",
		"mani.c:12":         "no source file mani.c; did you mean main.c?",
		"main:12":           "no source file main: main is a function; did you mean main.c:12?",
		"main.c:9999":       "no line 9999 in main.c: main.c has code up to line ",
		"-probe a:b":        "no probe a:b",
		"":                  "a location is missing",
		"main.c:":           "a line or a function is missing behind main.c\n  main.c:\n         ^",
		"-line x":           "x is no line number\n  -line x\n        ^",
		"*main+":            "an address or a function is expected\n  *main+\n        ^",
		"*12x":              "an address or a function is expected\n  *12x\n   ^~~",
		"*main+{":           "an address or a function is expected\n  *main+{\n        ^",
		"*_x":               "no function _x",
		"*'x":               "no function ",
		"*::x":              "no function ::x",
		"-nonsense main":    "a location has no option -nonsense\n  -nonsense main\n  ^~~~~~~~~",
		"-source main.c":    "a location wants a function or a line",
		"main:nonsuchlabel": "no label nonsuchlabel in main",
		"*mian":             "no function mian; did you mean main",
		"main+":             "no function main+",
		"-function":         "",
	} {
		locations, err := p.Locate(spec)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q gives %v, error %v; want %s", spec, locations, err, want)
			continue
		}
		var missing *NotFoundError
		var syntax *SyntaxError
		if !errors.As(err, &missing) && !errors.As(err, &syntax) {
			t.Errorf("%q gives an error of type %T", spec, err)
		}
	}
}

// TestSpellings: what GDB rejects or writes in another way is the same place.
func TestSpellings(t *testing.T) {
	p := openProgram(t, queues[0])
	for spec, same := range map[string]string{
		"push+4": "*push+4", "push + 4": "*push+4", "push+0x10": "*push+16", "-function 'push'": "push", "-function \"push\" -source queue.c": "queue.c:push",
		"'push'": "push", "\"queue.c\":push": "push",
	} {
		want, err := locate(p, same)
		if err != nil || len(want) == 0 {
			t.Fatalf("%s: %v, %v", same, want, err)
		}
		if got, err := locate(p, spec); !slices.Equal(got, want) {
			t.Errorf("%s: %v (%v), want %v", spec, got, err, want)
		}
	}
}

// FuzzSpec: whatever stands in a location, reading it ends.
func FuzzSpec(f *testing.F) {
	for _, list := range forms {
		for _, spec := range list {
			f.Add(spec)
		}
	}
	f.Add("operator<<int>(a::b::(")
	f.Fuzz(func(_ *testing.T, text string) {
		s, err := parseSpec(text)
		if err != nil {
			_ = err.Error()
			return
		}
		n := parseName(s.function)
		n.matches(&n, true)
	})
}
