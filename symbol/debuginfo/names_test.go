package debuginfo

import (
	"slices"
	"strings"
	"testing"
)

func TestBaseName(t *testing.T) {
	for name, want := range map[string]string{
		"push": "push", "Stack<int>": "Stack", "operator<": "operator<", "operator<<": "operator<<", "operator<=>": "operator<=>",
		"operator-><int>": "operator->", "operator<< <int>": "operator<<", "operator<<<int>": "operator<<", "operator()<int>": "operator()",
		"<lambda(int)>": "<lambda(int)>", "operators<int>": "operators", "": "", "main.(*T).Method": "main.(*T).Method",
	} {
		if got := string(baseName([]byte(name))); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestSplitName(t *testing.T) {
	for name, want := range map[string][]string{
		"push":                      {"push"},
		"ns::List<a::b>::push":      {"ns", "List<a::b>", "push"},
		"A::operator<":              {"A", "operator<"},
		"A::operator std::string":   {"A", "operator std::string"},
		"operators::run":            {"operators", "run"},
		"(anonymous namespace)::f":  {"(anonymous namespace)", "f"},
		"f(a::b)::<lambda(int)>::g": {"f(a::b)", "<lambda(int)>", "g"},
		"":                          {""},
		"::":                        {"", ""},
	} {
		if got := splitName(name); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// shapeNames are what the index has of testdata/shapes.cc: of a kind and a name, the qualified names.
var shapeNames = []struct {
	kind Kind
	name string
	want string
}{
	{KindFunction, "main", "main"},
	{KindFunction, "push", "outer::Stack<int>::push"},
	{KindFunction, "Stack::push", "outer::Stack<int>::push"},
	{KindFunction, "outer::Stack<int>::push", "outer::Stack<int>::push"},
	{KindFunction, "::outer::Stack< int >::push", "outer::Stack<int>::push"},
	{KindFunction, "::Stack::push", ""},
	{KindFunction, "inner::Stack::push", ""},
	{KindFunction, "Cursor::next", "outer::Stack<int>::Cursor::next"},
	{KindFunction, "outer::versioned", "outer::v1::versioned"},
	{KindFunction, "outer::v1::versioned", "outer::v1::versioned"},
	{KindFunction, "outer::hidden", "outer::(anonymous namespace)::hidden"},
	{KindFunction, "(anonymous namespace)::hidden", "outer::(anonymous namespace)::hidden"},
	{KindFunction, "Shape::area", "outer::Shape::area"},
	{KindFunction, "Shape::operator<", "outer::Shape::operator<"},
	{KindFunction, "Shape::operator<<", "outer::Shape::operator<<"},
	{KindFunction, "Shape::operator>>", ""},
	{KindFunction, "twice", "outer::twice<double> outer::twice<int>"},
	{KindFunction, "twice<int>", "outer::twice<int>"},
	{KindFunction, "squeeze", "squeeze"},
	{KindFunction, "plain_c", "plain_c"},
	{KindFunction, "total", ""},
	{KindVariable, "total", "total"},
	{KindVariable, "per_thread", "per_thread"},
	{KindVariable, "Shape::made", "outer::Shape::made"},
	{KindVariable, "hidden_count", "outer::(anonymous namespace)::hidden_count"},
	{KindVariable, "Stack<int>::pushes", "outer::Stack<int>::pushes"},
	{KindType, "Stack", "outer::Stack<int>"},
	{KindType, "outer::Shape", "outer::Shape"},
	{KindType, "Color", "outer::Color"},
	{KindType, "unsigned char", "unsigned char"},
	{KindConstant, "outer::GREEN", "outer::GREEN"},
	{KindConstant, "outer::Color::GREEN", "outer::GREEN"},
	{KindConstant, "Mode::ON", "outer::Mode::ON"},
	{KindConstant, "outer::ON", ""},
	{KindNamespace, "outer::v1", "outer::v1"},
}

func TestNames(t *testing.T) {
	for name := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, program(t, name))
			strict := name != "2" && name != "3" // these cannot say which namespaces are inline, or enumerations scoped
			for _, n := range shapeNames {
				if !strict && (n.name == "outer::versioned" || n.kind == KindConstant) {
					continue
				}
				if got := qualifiedNames(t, f, f.lookup(n.kind, n.name)); got != n.want {
					t.Errorf("%d %s: %q, want %q", n.kind, n.name, got, n.want)
				}
			}
			checkEachName(t, f)
		})
	}
}

func qualifiedNames(t *testing.T, f *File, offs []Offset) string {
	t.Helper()
	var all []string
	for _, off := range offs {
		e, err := f.Entry(off)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f.QualifiedName(e))
	}
	slices.Sort(all)
	return strings.Join(slices.Compact(all), " ")
}

// checkEachName looks up everything that is listed, and compares the two ways to a qualified name.
func checkEachName(t *testing.T, f *File) {
	for kind := KindFunction; kind <= KindNamespace; kind++ {
		count := 0
		f.EachName(kind, func(name string, off Offset) bool {
			count++
			e, err := f.Entry(off)
			if err != nil {
				t.Fatal(err)
			}
			if other := f.QualifiedName(e); other != name {
				t.Errorf("%#x is %q and %q", uint64(off), name, other)
			}
			if !slices.Contains(f.lookup(kind, "::"+name), off) {
				t.Errorf("%q is listed and not found", name)
			}
			return true
		})
		if count == 0 {
			t.Errorf("nothing of kind %d", kind)
		}
	}
}

func TestInstances(t *testing.T) {
	for name := range layouts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, program(t, name))
			code := f.Instances(one(t, f, f.Functions("squeeze")))
			if len(code) < 2 {
				t.Errorf("%d copies of an inlined function", len(code))
			}
			for _, instance := range code {
				in := f.FunctionAt(instance.EntryPC)
				if !instance.Inlined || in == nil || f.Name(in) != "work" && f.Name(in) != "main" {
					t.Errorf("copy at %v, inlined %t, in %+v", instance.EntryPC, instance.Inlined, in)
				}
			}
			work := f.Functions("work")
			found := f.Instances(work[0])
			if len(found) == 0 || found[0].Inlined || f.Root(found[0].Entry.Offset) != f.Root(work[0]) {
				t.Errorf("code of work: %+v", found)
			}
		})
	}
}

// one is the only function of a list, which may have its abstract instance besides.
func one(t *testing.T, f *File, offs []Offset) Offset {
	t.Helper()
	roots := map[Offset]bool{}
	for _, off := range offs {
		roots[f.Root(off)] = true
	}
	if len(roots) != 1 {
		t.Fatalf("%d functions: %v", len(roots), offs)
	}
	return offs[len(offs)-1]
}

// TestNested is about a function in another, as lambdas are.
func TestNested(t *testing.T) {
	f := open(t, build(t, "shapes.cc", "-O0"))
	e, err := f.Entry(one(t, f, f.Functions("main::operator()")))
	if err != nil {
		t.Fatal(err)
	}
	if in := f.FunctionAt(f.Ranges(e)[0].Begin); in == nil || in.Offset != e.Offset {
		t.Errorf("another function: %+v", in)
	}
}
