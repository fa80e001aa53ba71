package wire_test

import (
	"cmp"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tracewell/itrace/generate"
	"tracewell/itrace/match"
	"tracewell/view/wire"
)

var update = flag.Bool("update", false, "write docs/json.md anew")

// root is the folder of the module.
const root = "../.."

// documents are all that the command line writes as JSON, by the structs that it is encoded from. A test of the command line sees
// to it that each option --json is here.
var documents = []document{
	{"A trace file", "tracewell info FILE --json", "One object, indented.", reflect.TypeFor[wire.File]()},
	{"Frames", "tracewell show FILE --json; tracewell convert FILE OUT.jsonl; tracewell record --print --json",
		"One object per line for each frame.", reflect.TypeFor[wire.Frame]()},
	{"Frames and what changed", "tracewell show FILE --json --diff", "One object per line for each frame.", reflect.TypeFor[wire.ChangedFrame]()},
	{"Statistics", "tracewell show FILE --stats --json", "One object per line for each tracepoint.", reflect.TypeFor[wire.Figures]()},
	{"Stacks", "tracewell show FILE --stacks --json; tracewell show FILE --by caller --json; tracewell record --stacks --json",
		"One object per line for each stack, the most frequent first.", reflect.TypeFor[wire.Stack]()},
	{"Figures by key", "tracewell record --count-by KEYS --json; tracewell show FILE --count-by KEYS --json",
		"One object per line, for each interval of --every and at the end for the whole; likewise with --histogram and the like.",
		reflect.TypeFor[wire.Tally]()},
	{"Findings in a trace file", "tracewell check FILE --json", "One object, indented.", reflect.TypeFor[wire.FileReport]()},
	{"A trace run", "tracewell record --json", "One object on the last line of standard output.", reflect.TypeFor[wire.Run]()},
	{"A trace run that is not made", "tracewell record --dry-run --json", "One object, indented.", reflect.TypeFor[wire.Rehearsal]()},
	{"Locations", "tracewell record --list --json", "One object per line for each location.", reflect.TypeFor[wire.Location]()},
	{"Findings in a target description", "tracewell tdesc check SOURCE --json", "One object, indented.", reflect.TypeFor[wire.DescriptionReport]()},
	{"Layout of registers", "tracewell tdesc layout SOURCE --json", "A list, indented.", reflect.TypeFor[[]wire.Slot]()},
	{"A target description", "tracewell tdesc print SOURCE --json", "One object, indented.", reflect.TypeFor[wire.Description]()},
	{"Two target descriptions", "tracewell tdesc diff A B --json", "One object, indented.", reflect.TypeFor[wire.Differences]()},
	{"A comparison of execution traces",
		"tracewell match REFERENCE OTHER --json; tracewell match --pairs FILE --json; tracewell match --merge FILE --json",
		"One object per line for each comparison.", reflect.TypeFor[match.Result]()},
	{"Instructions of an execution trace", "tracewell query at TRACE POSITION --json", "One object per line for each instruction.",
		reflect.TypeFor[wire.Moment]()},
	{"Reads and writes in an execution trace", "tracewell query writers TRACE OBJECT --json; tracewell query readers TRACE OBJECT --json",
		"One object per line for each access.", reflect.TypeFor[wire.Access]()},
	{"Values over an execution trace", "tracewell query values TRACE OBJECT --json", "One object per line for each value.",
		reflect.TypeFor[wire.HeldValue]()},
	{"Registers at a moment", "tracewell query registers TRACE POSITION --json", "One object on one line.",
		reflect.TypeFor[wire.RegistersAt]()},
	{"Memory at a moment", "tracewell query memory TRACE RANGE POSITION --json", "One object on one line.",
		reflect.TypeFor[wire.MemoryAt]()},
	{"Executions of a place", "tracewell query executed TRACE PLACE --json", "One object per line for each execution.",
		reflect.TypeFor[wire.Step]()},
	{"How often a place was executed", "tracewell query executed TRACE PLACE --count --json", "One object on one line.",
		reflect.TypeFor[wire.Executions]()},
	{"Latency from one place to another", "tracewell query latency TRACE START END --json", "One object on one line.",
		reflect.TypeFor[wire.Latency]()},
	{"Functions of an execution trace", "tracewell query functions TRACE --json", "One object per line for each function.",
		reflect.TypeFor[wire.FunctionCost]()},
	{"Paths of calls", "tracewell query calltree TRACE --json", "One object per line for each path, behind that of its caller.",
		reflect.TypeFor[wire.PathCost]()},
	{"Hot spots", "tracewell query profile TRACE --json", "One object per line, the most instructions first.", reflect.TypeFor[wire.HotSpot]()},
	{"Instruction mix", "tracewell query mix TRACE --json", "One object per line for each mnemonic, the most frequent first.",
		reflect.TypeFor[wire.MixShare]()},
	{"Basic blocks", "tracewell query blocks TRACE --json", "One object per line for each block, the most instructions first.",
		reflect.TypeFor[wire.BasicBlock]()},
	{"Coverage of files", "tracewell query coverage TRACE --json", "One object per line for each file.",
		reflect.TypeFor[wire.FileCoverage]()},
	{"Coverage of functions", "tracewell query coverage TRACE --by function --json", "One object per line for each function.",
		reflect.TypeFor[wire.FunctionCoverage]()},
	{"Lines that were not executed", "tracewell query coverage TRACE --missing --json", "One object per line for each range of lines.",
		reflect.TypeFor[wire.UncoveredLines]()},
	{"Exceptions and interrupts", "tracewell query events TRACE --json", "One object per line for each, when its handler was left.",
		reflect.TypeFor[wire.Interruption]()},
	{"Exceptions and interrupts by cause", "tracewell query events TRACE --by-cause --json", "One object per line for each cause and handler.",
		reflect.TypeFor[wire.InterruptionSummary]()},
	{"Where two versions part", "tracewell query parting REFERENCE OTHER --json", "One object on one line.",
		reflect.TypeFor[wire.VersionComparison]()},
	{"A trace file as a page shows it", viewed("trace"), onRequest, reflect.TypeFor[wire.PageTrace]()},
	{"How far a search for frames is", viewed("search?where=n"), onRequest, reflect.TypeFor[wire.PageSearch]()},
	{"Rows of frames", viewed("rows?block=0&where=n"), onRequest, reflect.TypeFor[wire.PageRows]()},
	{"The row of a frame", viewed("place?frame=0"), onRequest, reflect.TypeFor[wire.PagePlace]()},
	{"A frame as a page shows it", viewed("frame?frame=0"), onRequest, reflect.TypeFor[wire.PageFrame]()},
	{"A timeline", viewed("timeline?by=thread&bins=960"), onRequest, reflect.TypeFor[wire.PageTimeline]()},
	{"A plot", viewed("plot?y=n&kind=line&bins=960"), onRequest, reflect.TypeFor[wire.PagePlot]()},
	{"A source file with its hits", viewed("source?file=0"), onRequest, reflect.TypeFor[wire.PageSource]()},
	{"Stacks as a tree", viewed("stacks"), onRequest, reflect.TypeFor[wire.PageStacks]()},
	{"What a page is about", viewed("page"), onRequest, reflect.TypeFor[wire.Page]()},
	{"What has changed in a page", viewed("changed?seen=1"), onRequest, reflect.TypeFor[wire.PageChange]()},
	{"A question that has no answer", viewed("nothing"), onRequest, reflect.TypeFor[wire.PageError]()},
	{"Comparisons as a page shows them", viewed("comparisons"), onRequest, reflect.TypeFor[wire.Comparisons]()},
	{"A comparison as a page shows it", viewed("comparison?comparison=0"), onRequest, reflect.TypeFor[wire.ComparisonDetail]()},
	{"Consequences as a page lists them", viewed("consequences?comparison=0&root=0"), onRequest,
		reflect.TypeFor[wire.ComparisonConsequences]()},
	{"A root cause as a page shows it", viewed("root?comparison=0&root=0"), onRequest, reflect.TypeFor[wire.RootCauseDetail]()},
	{"An execution trace as a page shows it", viewed("summary"), onRequest, reflect.TypeFor[wire.ExecutionSummary]()},
	{"A block of instructions", viewed("moments?block=0"), onRequest, reflect.TypeFor[wire.MomentBlock]()},
	{"The machine at the cursor", viewed("cursor?at=0"), onRequest, reflect.TypeFor[wire.CursorState]()},
	{"Where a search or a step has led", viewed("position?at=0&text=main", "move?at=0&by=next"), onRequest, reflect.TypeFor[wire.PositionFound]()},
	{"Accesses around the cursor", viewed("accesses?at=0&object=sp"), onRequest, reflect.TypeFor[wire.AccessesAround]()},
	{"Executions around the cursor", viewed("executions?at=0&place=main"), onRequest, reflect.TypeFor[wire.ExecutionsAround]()},
	{"Code at the cursor", viewed("code?at=0"), onRequest, reflect.TypeFor[wire.CodeListing]()},
	{"How far a trace has been read", viewed("reading"), onRequest, reflect.TypeFor[wire.ReadingState]()},
	{"Functions as a page shows them", viewed("functions"), onRequest, reflect.TypeFor[wire.FunctionList]()},
	{"Coverage as a page shows it", viewed("files"), onRequest, reflect.TypeFor[wire.FileList]()},
	{"Coverage of lines", viewed("lines?file=0"), onRequest, reflect.TypeFor[wire.LineCounts]()},
	{"Calls as a page draws them", viewed("chart?cpu=0&from=0&pixels=1024&to=1000"), onRequest, reflect.TypeFor[wire.CallChart]()},
	{"Faults in a generated trace", "tracewell gen-trace --planted FILE", "One object in a file.", reflect.TypeFor[generate.Outcome]()},
	{"The binary", "tracewell version --json", "One object on one line.", reflect.TypeFor[wire.Build]()},
}

// onRequest is the form of what the server of a page answers.
const onRequest = "One object, by HTTP."

// viewed is how a page asks questions, behind the address that the command prints.
func viewed(questions ...string) string {
	for i, question := range questions {
		questions[i] = "tracewell view FILE: GET ask/" + question
	}
	return strings.Join(questions, "; ")
}

// document is what commands write, each behind a semicolon and a blank.
type document struct {
	title, commands, form string
	of                    reflect.Type
}

// preface begins the reference.
const preface = `<!-- "go generate ./view/wire" writes this file from the structs that are encoded, and their comments. -->

# JSON and CSV

Programs may rely on these documents: members keep their names and meaning, new ones may be added. Addresses, pointers and
registers are strings, hexadecimal after 0x, because not every reader of JSON keeps integers of 64 bits. Counts are numbers, sizes
are in bytes. What a trace file does not tell is null or absent, as each row says; a list without elements is empty and not null.
Strings are UTF-8, and a byte that is not becomes U+FFFD.

`

// TestReference compares the description of all documents with docs/json.md.
func TestReference(t *testing.T) {
	const file = root + "/docs/json.md"
	r := reference{t: t, packages: make(map[string]*source), titles: make(map[reflect.Type]string)}
	r.WriteString(preface)
	for _, d := range documents {
		fmt.Fprintf(&r, "- [%s](#%s): `%s`\n", d.title, anchor(d.title), strings.ReplaceAll(d.commands, "; ", "`, `"))
	}
	fmt.Fprintf(&r, "- [%s](#%s)\n- [%s](#%s)\n- Execution traces as JSON lines: [exec-traces.md](exec-traces.md#json-lines)\n\n",
		csvTitle, anchor(csvTitle), valueTitle, anchor(valueTitle))
	for _, d := range documents {
		fmt.Fprintf(&r, "## %s\n\n`%s`\n\n%s\n\n", d.title, strings.ReplaceAll(d.commands, "; ", "`, `"), d.form)
		r.describe(d.of)
	}
	fmt.Fprintf(&r, "## %s\n\n`tracewell convert FILE OUT.csv`\n\n", csvTitle)
	r.WriteString(r.markdown(reflect.TypeFor[wire.CSVFrames]()))
	fmt.Fprintf(&r, "\n## %s\n\n", valueTitle)
	r.values()
	got := strings.TrimRight(r.String(), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("docs/json.md differs (-want +got); go generate ./view/wire writes it:\n%s", diff)
	}
	for name, spec := range r.source("tracewell/view/wire").types {
		if tagged(spec) && !slices.ContainsFunc(slices.Collect(keys(r.titles)), func(t reflect.Type) bool { return base(t) == name }) {
			t.Errorf("the struct %s is part of no document", name)
		}
	}
}

// The titles of what no struct describes.
const (
	csvTitle   = "Frames as CSV"
	valueTitle = "Collected values"
)

// reference is the document while it is made.
type reference struct {
	strings.Builder
	t        *testing.T
	packages map[string]*source
	titles   map[reflect.Type]string // of the structs that are described
}

// source is what the source of a package says of its types.
type source struct {
	pkg    *doc.Package
	types  map[string]*ast.TypeSpec
	values map[string][]constant // of a type, in the order of the source
}

type constant struct{ value, comment string }

func (r *reference) source(path string) *source {
	if s := r.packages[path]; s != nil {
		return s
	}
	s := &source{types: make(map[string]*ast.TypeSpec), values: make(map[string][]constant)}
	r.packages[path] = s
	fset := token.NewFileSet()
	var files []*ast.File
	paths, err := filepath.Glob(filepath.Join(root, strings.TrimPrefix(path, "tracewell/"), "*.go"))
	if err != nil || len(paths) == 0 {
		r.t.Fatalf("%s: %v, %v", path, paths, err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			r.t.Fatal(err)
		}
		files = append(files, f)
		for _, d := range f.Decls {
			s.read(d)
		}
	}
	if s.pkg, err = doc.NewFromFiles(fset, files, path, doc.PreserveAST); err != nil {
		r.t.Fatal(err)
	}
	return s
}

// read keeps the types of a declaration, and the strings that are values of them.
func (s *source) read(d ast.Decl) {
	general, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, spec := range general.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if spec.Doc == nil {
				spec.Doc = general.Doc
			}
			s.types[spec.Name.Name] = spec
		case *ast.ValueSpec:
			name, ok := spec.Type.(*ast.Ident)
			if !ok || general.Tok != token.CONST || len(spec.Values) != 1 {
				continue
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				value, _ := strconv.Unquote(literal.Value)
				s.values[name.Name] = append(s.values[name.Name], constant{value, remark(nil, spec.Comment)})
			}
		}
	}
}

// remark is the comment of a field or a constant, in one line.
func remark(doc, comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(cmp.Or(doc, comment).Text()), " ")
}

// tagged reports whether a type is a struct that is encoded.
func tagged(spec *ast.TypeSpec) bool {
	s, ok := spec.Type.(*ast.StructType)
	return ok && slices.ContainsFunc(s.Fields.List, func(f *ast.Field) bool { return f.Tag != nil })
}

// base is the name of a type in its source.
func base(t reflect.Type) string {
	name, _, _ := strings.Cut(t.Name(), "[")
	return name
}

// keys yields the keys of a map.
func keys[K comparable, V any](m map[K]V) func(func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// describe writes the table of a struct, and of those that its members are of unless they have one.
func (r *reference) describe(t reflect.Type) {
	elements := []reflect.Kind{reflect.Slice, reflect.Pointer, reflect.Array, reflect.Map}
	for !encodesItself(t) && slices.Contains(elements, t.Kind()) {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || encodesItself(t) || r.titles[t] != "" {
		return
	}
	title := titleOf(t)
	for other, taken := range r.titles {
		if taken == title {
			r.t.Errorf("%v and %v have one title", t, other)
		}
	}
	if slices.ContainsFunc(documents, func(d document) bool { return d.title == title }) {
		r.t.Errorf("%v has the title of a document", t)
	}
	r.titles[t] = title
	spec := r.source(t.PkgPath()).types[base(t)]
	fmt.Fprintf(r, "### %s\n\n%s\n| member | type | |\n|---|---|---|\n", title, r.markdown(t))
	remarks := make(map[string]string)
	for _, f := range spec.Type.(*ast.StructType).Fields.List {
		for _, name := range f.Names {
			remarks[name.Name] = remark(f.Doc, f.Comment)
		}
	}
	var inner []reflect.Type
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner = append(inner, f.Type)
		if f.Anonymous && name == "" {
			fmt.Fprintf(r, "| … | %s | its members, in the same object |\n", r.typeOf(f.Type))
			continue
		}
		if name == "" {
			r.t.Errorf("%v.%s has no name in JSON", t, f.Name)
		}
		r.member(t, f, name, options == "omitempty", remarks[f.Name])
	}
	r.WriteByte('\n')
	for _, t := range inner {
		r.describe(t)
	}
}

// member writes the row of a member. A number needs a unit, or what is counted; what may be absent or null needs a reason.
func (r *reference) member(t reflect.Type, f reflect.StructField, name string, optional bool, remark string) {
	kind := f.Type.Kind()
	typ := r.typeOf(f.Type)
	switch {
	case optional:
		typ += ", may be absent"
	case kind == reflect.Pointer:
		typ += " or null"
	}
	if remark == "" && (optional || kind == reflect.Pointer || kind >= reflect.Int && kind <= reflect.Float64) {
		r.t.Errorf("%v.%s: the comment says neither its unit nor when it is absent", t, f.Name)
	}
	for i, c := range r.constants(f.Type) {
		separator := "; "
		if i == 0 && remark == "" {
			separator = ""
		} else if i == 0 {
			separator = ": "
		}
		remark += separator + "`" + c.value + "`"
		if c.comment != "" {
			remark += " (" + c.comment + ")"
		}
	}
	fmt.Fprintf(r, "| `%s` | %s | %s |\n", name, typ, strings.ReplaceAll(remark, "|", `\|`))
}

// constants are the values that a string of a type of its own can have.
func (r *reference) constants(t reflect.Type) []constant {
	if t.Kind() == reflect.Map {
		t = t.Key()
	}
	if t.Kind() != reflect.String || t.PkgPath() == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(r.source(t.PkgPath()).values[t.Name()]), func(c constant) bool { return c.value == "" })
}

// typeOf names a type in the terms of JSON.
func (r *reference) typeOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "any value"
	case t.Implements(reflect.TypeFor[json.Marshaler]()):
		return "object"
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.typeOf(t.Elem())
	case reflect.Slice:
		return "list of " + r.typeOf(t.Elem())
	case reflect.Array:
		return fmt.Sprintf("list of %d × %s", t.Len(), r.typeOf(t.Elem()))
	case reflect.Map:
		return "object of " + r.typeOf(t.Elem())
	case reflect.Struct:
		return fmt.Sprintf("[%s](#%s)", titleOf(t), anchor(titleOf(t)))
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Float64:
		return "number"
	case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Uint16, reflect.Uint32:
		return "integer"
	}
	r.t.Errorf("%v: no type of JSON", t)
	return t.String()
}

func encodesItself(t reflect.Type) bool { return t.Implements(reflect.TypeFor[json.Marshaler]()) }

// titleOf is the heading of a struct: "Finding", "Change of integer".
func titleOf(t reflect.Type) string {
	name, argument, generic := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	if !generic {
		return name
	}
	return name + " of " + map[string]string{"string": "string", "int64": "integer"}[argument]
}

// anchor is what GitHub and other renderers of Markdown call a heading.
func anchor(title string) string {
	return strings.ReplaceAll(strings.ToLower(title), " ", "-")
}

// markdown is the comment of a type.
func (r *reference) markdown(t reflect.Type) string {
	s := r.source(t.PkgPath())
	p := s.pkg.Printer()
	p.DocLinkURL = nil
	return string(p.Markdown(s.pkg.Parser().Parse(s.types[base(t)].Doc.Text())))
}

// values describes the values of "collected", by the comments of the styles.
func (r *reference) values() {
	s := r.source("tracewell/view")
	fmt.Fprintf(r, "%s\n", s.pkg.Printer().Markdown(s.pkg.Parser().Parse(s.types["Style"].Doc.Text())))
	for _, spec := range s.pkg.Types {
		if spec.Name != "Style" {
			continue
		}
		for _, group := range spec.Consts {
			for _, c := range group.Decl.Specs {
				v := c.(*ast.ValueSpec)
				if v.Doc != nil {
					fmt.Fprintf(r, "- %s\n", remark(v.Doc, nil))
				}
			}
		}
	}
}
