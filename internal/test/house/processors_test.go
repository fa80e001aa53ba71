package house

import (
	"cmp"
	"go/ast"
	"go/build/constraint"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/tdesc/machine"
)

// table is the package that has the names of processors and of their registers. Packages below it in its folder are of one
// processor each.
const table = "arch"

// describing are the packages above the table that name registers all the same, with the reason.
var describing = map[string]string{
	"tdesc/machine":        "descriptions of real machines are the same kind of data, in the form that package tdesc gives it, above the table",
	"internal/fast":        "the name of a register in a description chooses the instruction by which a pad stores it",
	"itrace/riscvdv":       "it is of a program whose name begins with that of the processor",
	"itrace/match/profile": "a profile is named for what the producers of two traces model, and chooses a row of the table by that",
	"tdesc/check":          "what GDB asks of standard features is a second opinion, held against GDB: taken from the table it could not differ",
}

// otherwise are names of registers and processors that mean something else as words, with what they mean. A literal is only
// looked through for the other names.
var otherwise = map[string]string{
	"pc": "a role that GDB names alike on every machine", "sp": "a role", "fp": "a role",
	"ax": "agent expressions", "rsp": "the remote protocol", "zero": "a number", "at": "a preposition", "status": "a noun",
	"cause": "a noun", "restart": "a verb", "trap": "a noun", "any": "a pronoun", "sh": "a shell", "es": "the ending of a plural",
	"ss": "the same behind a letter", "tp": "a line of a trace file", "fstat": "a request of host I/O", "sb": "an instruction",
	"w3": "a consortium", "z0": "the middle of a set of letters and digits",
}

// processorNames matches the names of processors, and registerNames has those of registers: all that are in the table, and in
// the descriptions of real machines.
var (
	processorNames = func() *regexp.Regexp {
		var names []string
		for _, m := range arch.Machines() {
			title, _, _ := strings.Cut(m.Title, " of ")
			for _, name := range append([]string{m.Name, m.Family, m.GOARCH, title, m.Multiarch}, m.Architectures...) {
				name, _, _ = strings.Cut(name, ":")
				if otherwise[name] == "" && name != "" {
					names = append(names, regexp.QuoteMeta(name))
				}
			}
		}
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
		return regexp.MustCompile(`(?i)(?:^|[^a-z0-9_])(` + strings.Join(slices.Compact(names), "|") + `)(?:$|[^a-z0-9_])`)
	}()
	registerNames = func() map[string]bool {
		names := make(map[string]bool)
		for _, m := range arch.Machines() {
			all := m.Registers
			if m.Convention != nil {
				all = slices.Concat(all, m.Convention.Registers)
			}
			for _, r := range all {
				for _, name := range append([]string{r.Name, r.ABI}, r.Aliases...) {
					names[strings.Trim(name, "$")] = true
				}
			}
			for _, p := range m.Parts {
				names[p.Name], names[p.Assembler] = true, true
			}
		}
		for _, shape := range machine.Shapes() {
			for _, r := range shape.Target().Registers() {
				names[r.Name] = true
			}
		}
		for word := range otherwise {
			delete(names, word)
		}
		for name := range names { // the numbers of MIPS registers, and the letters of others
			if _, err := strconv.Atoi(name); err == nil || len(name) < 2 {
				delete(names, name)
			}
		}
		return names
	}()
)

// verbs are those of formats, which would run into the letters behind them.
var verbs = regexp.MustCompile(`%[-+# 0-9.*\[\]]*[a-zA-Z]([^a-zA-Z]|$)`)

// notInNames separates words.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// named returns the first name of a processor or a register in a text, "" if there is none.
func named(text string) string {
	text = verbs.ReplaceAllString(text, " $1")
	if found := processorNames.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	for _, word := range notInNames.Split(text, -1) {
		if registerNames[word] {
			return word
		}
	}
	return ""
}

// processors finds strings that name a processor or a register above the table of machines.
func processors(t *tree) []finding {
	var found []finding
	l, _, err := readLayers(t.root)
	if err != nil {
		return []finding{{layersFile, 1, err.Error()}}
	}
	for _, s := range t.files {
		above := s.pkg != table && !strings.HasPrefix(s.pkg, table+"/") && (l.depth[table] == 0 || l.depth[s.pkg] < l.depth[table])
		if !above || s.test || !s.written || l.tests[s.pkg] || describing[s.pkg] != "" || forOneProcessor(s) {
			continue
		}
		for _, literal := range meant(s.ast) {
			text, err := strconv.Unquote(literal.Value)
			if name := named(text); err == nil && name != "" {
				found = append(found, t.at(s, literal.Pos(), "%q names %s: only %s knows processors and registers by name", short60(text), name, table))
			}
		}
	}
	return found
}

// short60 is the beginning of a text.
func short60(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}

// meant returns the strings of a file that code depends on: neither import paths nor what users read of a command, in the tags of
// its options and its examples, where a real name is the best example.
func meant(file *ast.File) []*ast.BasicLit {
	var literals []*ast.BasicLit
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.FuncDecl:
			return n.Name.Name != "Examples"
		case *ast.Field:
			if n.Tag != nil {
				return false
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING {
				literals = append(literals, n)
			}
		}
		return true
	})
	return literals
}

// forOneProcessor reports whether a file is for some processors only, by its name, its folder's or its constraint: it may then know
// which ones these are.
func forOneProcessor(s *source) bool {
	for _, goarch := range processorsOfGo {
		if strings.HasSuffix(s.path, "_"+goarch+".go") || strings.HasSuffix(s.pkg, "/"+goarch) {
			return true
		}
	}
	for _, group := range s.ast.Comments {
		for _, c := range group.List {
			expr, err := constraint.Parse(c.Text)
			if err == nil && c.Pos() < s.ast.Package && !expr.Eval(func(tag string) bool { return !slices.Contains(processorsOfGo, tag) }) {
				return true
			}
		}
	}
	return false
}

// processorsOfGo are GOARCH values that files may be for.
var processorsOfGo = []string{"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "ppc64le", "riscv64", "s390x"}
