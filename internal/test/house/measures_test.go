package house

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// count is what the lines of files are. A line with a token of code is code, one with nothing but a comment is comment; commented
// are the lines on which a comment stands, beside code or alone, which the share of comments is made of.
type count struct{ code, comment, blank, commented int }

func (c count) lines() int { return c.code + c.comment + c.blank }

// share is the part of all lines on which a comment stands, in percent.
func (c count) share() float64 { return 100 * float64(c.commented) / float64(max(c.lines(), 1)) }

func (c count) plus(d count) count {
	return count{c.code + d.code, c.comment + d.comment, c.blank + d.blank, c.commented + d.commented}
}

// countLines counts the lines of a file by its tokens.
func countLines(s *source) (c count) {
	const code, comment = 1, 2
	kinds := make([]int, strings.Count(strings.TrimSuffix(string(s.text), "\n"), "\n")+1)
	file := token.NewFileSet().AddFile(s.path, -1, len(s.text))
	var scan scanner.Scanner
	scan.Init(file, s.text, nil, scanner.ScanComments)
	for {
		pos, tok, literal := scan.Scan()
		if tok == token.EOF {
			break
		}
		kind, first := code, file.Line(pos)
		switch {
		case tok == token.COMMENT:
			kind = comment
		case tok == token.SEMICOLON && literal == "\n": // the scanner's own, on a line that has another token
			continue
		}
		for line := first; line <= first+strings.Count(literal, "\n"); line++ {
			kinds[line-1] |= kind
		}
	}
	for _, kind := range kinds {
		switch {
		case kind&code != 0:
			c.code++
		case kind&comment != 0:
			c.comment++
		default:
			c.blank++
		}
		if kind&comment != 0 {
			c.commented++
		}
	}
	return c
}

// production counts the lines of each package that is part of the product: those that docs/layers.txt does not give to tests.
func (t *tree) production() (map[string]count, error) {
	l, _, err := readLayers(t.root)
	counts := map[string]count{}
	for _, s := range t.files {
		if !s.test && err == nil && !l.tests[s.pkg] {
			counts[s.pkg] = counts[s.pkg].plus(countLines(s))
		}
	}
	return counts, err
}

// leastShare is the share of comments, in percent, that the packages in limits.commented must have: a package of nothing but
// tables explains itself, one with algorithms or with another program's habits does not.
const leastShare = 15

// comments finds packages whose share is lower.
func comments(t *tree) []finding {
	counts, err := t.production()
	if err != nil {
		return []finding{{layersFile, 1, err.Error()}}
	}
	var found []finding
	for _, name := range t.limits.commented {
		folder, all := strings.CutSuffix(name, "/")
		some := false
		for _, pkg := range slices.Sorted(maps.Keys(counts)) {
			if pkg != folder && !(all && strings.HasPrefix(pkg, name)) {
				continue
			}
			if c := counts[pkg]; c.share() < leastShare {
				found = append(found, finding{pkg, 0, fmt.Sprintf("%.1f %% of the lines have comments, at least %d %% should", c.share(), leastShare)})
			}
			some = true
		}
		if !some {
			found = append(found, finding{name, 0, "there is no such package to have comments"})
		}
	}
	return found
}

// fieldTag is the tag of a struct's field. It is one literal, which Go cannot break over lines.
var fieldTag = regexp.MustCompile("`[a-z]+:\"[^`]*`")

// columns finds lines of the product that are too long. A tab is one column, as it is one character; a tag has none.
func columns(t *tree) []finding {
	l, _, err := readLayers(t.root)
	if err != nil {
		return []finding{{layersFile, 1, err.Error()}}
	}
	var found []finding
	for _, s := range t.files {
		if s.test || !s.written || l.tests[s.pkg] {
			continue
		}
		for i, line := range strings.Split(string(s.text), "\n") {
			if n := len([]rune(fieldTag.ReplaceAllString(line, ""))); n > t.limits.columns {
				found = append(found, finding{s.path, i + 1, fmt.Sprintf("%d columns, of which there may be %d", n, t.limits.columns)})
			}
		}
	}
	return found
}

// statusPackage has the type of a wait status as the kernel gives it.
const statusPackage, statusType = "internal/sys", "Status"

// handling lists the files of the product outside of statusPackage in which a raw wait status has a name, be it only to be passed on:
// the places to know for who follows one.
func (c *checker) handling() (files []string, err error) {
	l, _, err := readLayers(c.t.root)
	if err != nil {
		return nil, err
	}
	for _, pkg := range c.t.packages() {
		if pkg == statusPackage || l.tests[pkg] || !slices.ContainsFunc(c.t.sources(pkg), func(s *source) bool {
			_, ok := s.imports()[c.t.module+"/"+statusPackage]
			return ok
		}) {
			continue
		}
		c.Import(c.t.module + "/" + pkg)
		for _, s := range c.t.sources(pkg) {
			named := false
			ast.Inspect(s.ast, func(n ast.Node) bool {
				name, ok := n.(*ast.Ident)
				named = named || ok && c.isStatus(name)
				return !named
			})
			if named {
				files = append(files, s.path)
			}
		}
	}
	return files, nil
}

// isStatus reports whether a name is that of a wait status, of its type, or of a method of it.
func (c *checker) isStatus(name *ast.Ident) bool {
	object := c.info.Uses[name]
	if object == nil {
		object = c.info.Defs[name]
	}
	if object == nil {
		return false
	}
	kind := object.Type()
	if f, ok := kind.(*types.Signature); ok && f.Recv() != nil {
		kind = f.Recv().Type()
	}
	named, ok := types.Unalias(kind).(*types.Named)
	return ok && named.Obj().Name() == statusType && named.Obj().Pkg() != nil &&
		named.Obj().Pkg().Path() == c.t.module+"/"+statusPackage
}

// statuses finds too many files that handle a raw wait status.
func statuses(t *tree) []finding {
	files, err := newChecker(t).handling()
	switch {
	case err != nil:
		return []finding{{layersFile, 1, err.Error()}}
	case len(files) > t.limits.statuses:
		return []finding{{files[0], 1, fmt.Sprintf("a raw wait status is handled in more than %d files: %s",
			t.limits.statuses, strings.Join(files, ", "))}}
	}
	return nil
}

// circles are groups of packages that import one another, which the compiler refuses before this can find any.
func (t *tree) circles() [][]string {
	reach := map[string]map[string]bool{}
	for _, s := range t.files {
		for name := range s.imports() {
			if pkg, own := t.own(name); own && !s.test && pkg != s.pkg {
				if reach[s.pkg] == nil {
					reach[s.pkg] = map[string]bool{}
				}
				reach[s.pkg][pkg] = true
			}
		}
	}
	for via := range reach { // Warshall's algorithm
		for from := range reach {
			if reach[from][via] {
				maps.Copy(reach[from], reach[via])
			}
		}
	}
	var circles [][]string
	done := map[string]bool{}
	for _, pkg := range slices.Sorted(maps.Keys(reach)) {
		if !reach[pkg][pkg] || done[pkg] {
			continue
		}
		var circle []string
		for other := range reach[pkg] {
			if reach[other][pkg] {
				circle, done[other] = append(circle, other), true
			}
		}
		slices.Sort(circle)
		circles = append(circles, circle)
	}
	return circles
}

// TestMeasures prints, with -v, what make measures shows of the tree as it is. The rules hold most of it.
func TestMeasures(t *testing.T) {
	module, err := readTree(filepath.Join("..", "..", ".."), house)
	if err != nil {
		t.Fatal(err)
	}
	out := io.Discard
	if testing.Verbose() {
		out = os.Stdout
	}
	if err := module.measure(out); err != nil {
		t.Fatal(err)
	}
	for _, circle := range module.circles() {
		t.Errorf("packages import one another: %s", strings.Join(circle, ", "))
	}
}

// measure writes the measures.
func (t *tree) measure(w io.Writer) error {
	counts, err := t.production()
	if err != nil {
		return err
	}
	cells := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(cells, "share\tlines\tcode\tcomment\tblank\t  package, of the product")
	var total count
	row := func(c count, name string) {
		fmt.Fprintf(cells, "%.1f%%\t%d\t%d\t%d\t%d\t  %s\n", c.share(), c.lines(), c.code, c.comment, c.blank, name)
	}
	packages := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a].share(), counts[b].share()), cmp.Compare(a, b))
	})
	for _, pkg := range packages {
		row(counts[pkg], pkg)
		total = total.plus(counts[pkg])
	}
	row(total, fmt.Sprintf("all %d packages", len(counts)))
	cells.Flush()

	fmt.Fprintf(w, "\nlines of more than %d columns: %d\n", t.limits.columns, len(columns(t)))
	c := newChecker(t)
	fmt.Fprintf(w, "functions that call one another, of which there may be %d in a group:\n", largestGroup)
	for _, pkg := range t.packages() {
		if isFlat(pkg) {
			var sizes []int
			for _, group := range c.groups(pkg) {
				if len(group) > 1 {
					sizes = append(sizes, len(group))
				}
			}
			slices.SortFunc(sizes, func(a, b int) int { return b - a })
			fmt.Fprintf(w, "  %s: groups of %v\n", pkg, sizes)
		}
	}
	fmt.Fprintf(w, "circles of packages: %d\n", len(t.circles()))
	files, err := c.handling()
	fmt.Fprintf(w, "files outside %s in which a raw wait status is handled: %d\n", statusPackage, len(files))
	for _, file := range files {
		fmt.Fprintf(w, "  %s\n", file)
	}
	fmt.Fprintf(w, "names of registers and processors above %s: %d\n", table, len(processors(t)))
	return err
}
