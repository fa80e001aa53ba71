package debuginfo

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

var bigFolder = flag.String("big", "", "where the large program of the benchmarks is kept between runs")

// The size of the large program: 100 MB and more, in the way of real ones, as many units with many instances of templates.
const (
	bigUnits   = 64
	bigClasses = 260
)

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

// bigProgram makes the large program, or takes the one of an earlier run. It takes a minute or two.
func bigProgram(b testing.TB) string {
	dir := *bigFolder
	if dir == "" {
		b.Skip("needs -big FOLDER, where a program of 100 MB is made")
	}
	program := filepath.Join(dir, "big")
	if _, err := os.Stat(program); err == nil {
		return program
	}
	var objects []string
	var main, entries strings.Builder
	var compilers sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	for i := range bigUnits {
		fmt.Fprintf(&entries, "int entry%d(int);\n", i)
		fmt.Fprintf(&main, "  sum += entry%d(argc);\n", i)
		name := fmt.Sprintf("unit%d", i)
		objects = append(objects, name+".o")
		if err := os.WriteFile(filepath.Join(dir, name+".cc"), []byte(bigSource(i)), 0o644); err != nil {
			b.Fatal(err)
		}
		compilers.Go(func() {
			slots <- true
			run(b, dir, "g++", "-g", "-c", "-o", name+".o", name+".cc")
			<-slots
		})
	}
	compilers.Wait()
	source := entries.String() + "int main(int argc, char **argv) {\n  int sum = 0;\n" + main.String() + "  return sum;\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.cc"), []byte(source), 0o644); err != nil {
		b.Fatal(err)
	}
	run(b, dir, "g++", append([]string{"-g", "-o", "big", "main.cc"}, objects...)...)
	return program
}

// BenchmarkFirstTracepoint is what lies between a large program and the first armed tracepoint.
func BenchmarkFirstTracepoint(b *testing.B) {
	program := bigProgram(b)
	for b.Loop() {
		f, err := Open(program, Options{})
		if err != nil {
			b.Fatal(err)
		}
		found := f.Functions("unit7::Widget42::work")
		if len(found) != 1 {
			b.Fatalf("%d functions", len(found))
		}
		code := f.Instances(found[0])
		line, ok := f.LineAt(code[0].EntryPC)
		if !ok || line.Line == 0 {
			b.Fatalf("no line: %v", line)
		}
		if e := f.FunctionAt(code[0].EntryPC); e == nil || e.Offset != code[0].Entry.Offset {
			b.Fatalf("another function: %v", e)
		}
		f.Close()
	}
}
