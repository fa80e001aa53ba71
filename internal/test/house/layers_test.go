package house

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// layersFile lists the packages of the module, top first. Packages on one line stand beside each other and do not import one
// another; a package imports only from lines below its own. A line that begins with "tests:" has packages for tests: only
// test files and packages of other such lines import them, from wherever they are. # begins a comment.
const layersFile = "docs/layers.txt"

// layers is the list, read.
type layers struct {
	depth map[string]int // line number of each package
	tests map[string]bool
}

// readLayers also reports packages that are listed twice.
func readLayers(root string) (*layers, []finding, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(layersFile)))
	if err != nil {
		return nil, nil, err
	}
	l := &layers{depth: map[string]int{}, tests: map[string]bool{}}
	var found []finding
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		line, tests := strings.CutPrefix(line, "tests:")
		for _, pkg := range strings.Fields(line) {
			if before, twice := l.depth[pkg]; twice {
				found = append(found, finding{layersFile, i + 1, fmt.Sprintf("%s is listed on line %d already", pkg, before)})
				continue
			}
			l.depth[pkg], l.tests[pkg] = i+1, tests
		}
	}
	return l, found, nil
}

// layering holds every import between packages of the module to the list, and the list to the packages that there are.
func layering(t *tree) []finding {
	l, found, err := readLayers(t.root)
	if err != nil {
		return []finding{{layersFile, 1, err.Error()}}
	}
	exists := map[string]bool{}
	for _, s := range t.files {
		if _, listed := l.depth[s.pkg]; !listed && !exists[s.pkg] {
			found = append(found, t.at(s, s.ast.Package, "package %s is not in %s", s.pkg, layersFile))
		}
		exists[s.pkg] = true
		for name, pos := range s.imports() {
			if pkg, own := t.own(name); own {
				if reason := l.refuses(s, pkg); reason != "" {
					found = append(found, t.at(s, pos, "%s imports %s, %s", s.pkg, pkg, reason))
				}
			}
		}
	}
	for pkg, line := range l.depth {
		if !exists[pkg] {
			found = append(found, finding{layersFile, line, pkg + " does not exist"})
		}
	}
	slices.SortFunc(found, func(a, b finding) int { return strings.Compare(a.String(), b.String()) })
	return found
}

// refuses says why a file may not import pkg; empty when it may.
func (l *layers) refuses(s *source, pkg string) string {
	from, fromListed := l.depth[s.pkg]
	to, toListed := l.depth[pkg]
	switch {
	case pkg == s.pkg || !fromListed || !toListed: // a test of the package from outside; reported as not listed
		return ""
	case l.tests[pkg] && !s.test && !l.tests[s.pkg]:
		return "which is for tests only"
	case l.tests[pkg] && s.test:
		return ""
	case to < from:
		return "which is above it"
	case to == from:
		return "which is beside it"
	}
	return ""
}
