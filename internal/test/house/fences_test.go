package house

import (
	"go/ast"
	"slices"
	"strings"
)

// fence is a thing that only some places may use.
type fence struct {
	imports string // import path
	reason  string
	allows  func(*source) bool
}

// system is the package where system calls are made.
const system = "internal/sys"

// signalling are the packages that name signals and process groups besides, and for that alone import syscall. So do those in folders of
// them.
var signalling = []string{"cmd/tracewell/internal/cli", "internal/test/gdbtest", "internal/test/proxytest", "internal/test/robust", "test/mutants"}

// signals reports whether a package is one of signalling, or in the folder of one.
func signals(pkg string) bool {
	return slices.ContainsFunc(signalling, func(s string) bool { return pkg == s || strings.HasPrefix(pkg, s+"/") })
}

// opening is the package that opens files without waiting, also on systems without internal/sys.
const opening = "internal/regularfile"

// executing is the package by which tests run code that they have assembled.
const executing = "internal/test/native"

// pure are the packages whose code takes bytes and returns values: neither files, sockets nor processes.
var pure = []string{
	"arch", "arch/amd64", "arch/arm64", "fast/jump", "rsp", "tdesc", "tdesc/check", "tdesc/fetch", "tdesc/machine", "ax", "ax/jit", "internal/asm/amd64", "trace", "tfile", "tfile/check", "tfile/ctf", "tfile/edit", "tfile/tracetext",
	"itrace", "itrace/internal/swar", "itrace/index", "itrace/match", "itrace/match/report", "itrace/query", "itrace/generate", "itrace/dialects", "itrace/matcher", "itrace/jsonl", "tracepoint", "sdt",
	"internal/xmltext", "internal/cexpr", "symbol/expr", "record/plan",
	"fast",
}

var importFences = []fence{
	{"unsafe", "only files called *_unsafe.go may", func(s *source) bool {
		return strings.HasSuffix(strings.TrimSuffix(s.path, ".go"), "_unsafe") || strings.HasSuffix(s.path, "_unsafe_test.go")
	}},
	{"C", "the product is built without cgo", func(*source) bool { return false }},
	{"golang.org/x/sys/unix", "only " + system + " and " + executing + " may", func(s *source) bool {
		return s.pkg == system || s.pkg == executing
	}},
	{"syscall", "only " + system + ", " + opening + " and those that handle signals may", func(s *source) bool {
		return s.pkg == system || s.pkg == opening || signals(s.pkg)
	}},
	{"os", "it does no I/O of its own", outside},
	{"os/exec", "it does no I/O of its own", outside},
	{"net", "it does no I/O of its own", outside},
}

// outside reports whether a file is free to do I/O.
func outside(s *source) bool { return s.test || !slices.Contains(pure, s.pkg) }

// systemCalls are the beginnings of the functions of package syscall that enter the kernel with whatever they are given.
var systemCalls = []string{"Syscall", "RawSyscall", "Ptrace"}

// fences finds uses of what is fenced off.
func fences(t *tree) []finding {
	var found []finding
	for _, s := range t.files {
		imports := s.imports()
		for _, f := range importFences {
			if pos, ok := imports[f.imports]; ok && !f.allows(s) {
				found = append(found, t.at(s, pos, "%s imports %s: %s", s.pkg, f.imports, f.reason))
			}
		}
		if _, ok := imports["syscall"]; ok && s.pkg != system {
			found = append(found, directCalls(t, s)...)
		}
	}
	return found
}

// directCalls finds the mention of a system call where only signals are allowed.
func directCalls(t *tree, s *source) []finding {
	var found []finding
	ast.Inspect(s.ast, func(n ast.Node) bool {
		selector, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := selector.X.(*ast.Ident)
		direct := func(prefix string) bool { return strings.HasPrefix(selector.Sel.Name, prefix) }
		if ok && pkg.Name == "syscall" && slices.ContainsFunc(systemCalls, direct) {
			found = append(found, t.at(s, n.Pos(), "syscall.%s: only %s may make system calls", selector.Sel.Name, system))
		}
		return true
	})
	return found
}
