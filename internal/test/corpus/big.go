package corpus

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"tracewell/internal/routine"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// The size of the large program: more than 100 MB, in the way of real ones, as many units with many instances of templates.
const (
	bigUnits   = 64
	bigClasses = 260
)

// BigFunction is a function of the large program with an argument, which is called once.
const BigFunction = "unit7::Widget42::work"

// Big returns the path of a program in C++ of more than 100 MB, mostly debugging information. It is made when it is asked
// for first, which takes a minute or two.
func Big(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(testprog.CacheDir(t), fmt.Sprintf("big-%d-%d", bigUnits, bigClasses))
	program := filepath.Join(dir, "big")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	draft, err := os.MkdirTemp(filepath.Dir(dir), "compile-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(draft)
	var objects []string
	var main, entries strings.Builder
	var compilers routine.Group
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	compiler := testtool.Path(t, "g++")
	for i := range bigUnits {
		fmt.Fprintf(&entries, "int entry%d(int);\n", i)
		fmt.Fprintf(&main, "  sum += entry%d(argc);\n", i)
		name := fmt.Sprintf("unit%d", i)
		objects = append(objects, name+".o")
		compilers.Go(func() {
			slots <- true
			compileBig(t, compiler, draft, name, bigSource(i), "-c", "-o", name+".o")
			<-slots
		})
	}
	compilers.Wait()
	text := entries.String() + "int main(int argc, char **argv) {\n  int sum = 0;\n" + main.String() + "  return sum & 1;\n}\n"
	if !t.Failed() {
		compileBig(t, compiler, draft, "main", text, append([]string{"-o", "big"}, objects...)...)
	}
	if t.Failed() {
		t.FailNow()
	}
	for _, name := range append(objects, "main.cc") {
		os.Remove(filepath.Join(draft, name))
	}
	if err := os.Rename(draft, dir); err != nil {
		if _, missing := os.Stat(program); missing != nil {
			t.Fatal(err)
		}
	}
	return program
}

// compileBig compiles a source, on any goroutine.
func compileBig(t testing.TB, compiler, dir, name, text string, flags ...string) {
	if err := os.WriteFile(filepath.Join(dir, name+".cc"), []byte(text), 0o600); err != nil {
		t.Error(err)
		return
	}
	cmd := exec.Command(compiler, append([]string{"-g", name + ".cc"}, flags...)...)
	cmd.Dir = dir
	if messages, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", cmd, err, messages)
	}
}

// bigSource is one unit of the large program. All of them share the templates, and have classes of their own.
func bigSource(unit int) string {
	var b strings.Builder
	b.WriteString(bigTemplates)
	fmt.Fprintf(&b, "namespace unit%d {\n", unit)
	for i := range bigClasses {
		fmt.Fprintf(&b, bigClass, i, unit)
	}
	fmt.Fprintf(&b, "}\nint entry%d(int n) {\n  int sum = 0;\n", unit)
	for i := range bigClasses {
		fmt.Fprintf(&b, "  { unit%d::Widget%d w{n}; sum += w.work(n) + common::use(w); }\n", unit, i)
	}
	b.WriteString("  return sum;\n}\n")
	return b.String()
}

const bigTemplates = `
namespace common {
template <typename T> struct Node { T value; Node *next; T *get() { return &value; } };
template <typename T> struct List {
  Node<T> *head = nullptr; int count = 0;
  struct Iterator {
    Node<T> *at;
    bool more() const { return at != nullptr; }
    T &operator*() { return at->value; }
    Iterator &operator++() { at = at->next; return *this; }
  };
  Iterator begin() { return Iterator{head}; }
  void push(Node<T> *n) { n->next = head; head = n; count++; }
  int size() const { return count; }
};
template <typename K, typename V> struct Pair { K first; V second; bool same(const Pair &o) const { return first == o.first; } };
template <typename K, typename V> struct Map {
  List<Pair<K, V>> buckets[4];
  V *find(K key) {
    for (auto i = buckets[key & 3].begin(); i.more(); ++i)
      if ((*i).first == key) return &(*i).second;
    return nullptr;
  }
};
template <typename T> int use(T &object) {
  List<T> list; Node<T> node{object, nullptr}; Map<int, T> map;
  list.push(&node);
  int sum = 0;
  for (auto i = list.begin(); i.more(); ++i) sum += (*i).area();
  return sum + list.size() + (map.find(sum) != nullptr);
}
}
`

const bigClass = `
struct Widget%[1]d {
  int width; int height = %[1]d;
  int area() const { return width * height; }
  int work(int n) { int sum = 0; for (int i = 0; i < n; i++) { int step = i * %[2]d; sum += step + area(); } return sum; }
  Widget%[1]d grown(int by) const { Widget%[1]d copy = *this; copy.width += by; return copy; }
};
`
