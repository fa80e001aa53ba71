package dap

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	protocol "github.com/google/go-dap"

	"tracewell/internal/regularfile"
	"tracewell/internal/text"
	"tracewell/symbol"
)

// sources finds the files of this machine that debug information names, and the other way round.
type sources struct {
	maps    map[string]string // prefixes of paths in debug information, and what stands here in their place
	folders []string          // in which files with relative paths are looked for

	mu    sync.Mutex        // lines of log points are printed by a goroutine of the run
	found map[string]string // by the path in debug information
	known map[string]string // the other way round
}

func newSources(a *launchArguments) *sources {
	s := &sources{maps: a.SourceMap, found: make(map[string]string), known: make(map[string]string)}
	for _, folder := range []string{a.Cwd, filepath.Dir(a.Program), filepath.Dir(a.Trace), "."} {
		if whole, err := filepath.Abs(folder); err == nil && !slices.Contains(s.folders, whole) {
			s.folders = append(s.folders, whole)
		}
	}
	return s
}

// here is the path on this machine of a file that debug information names. It may not exist.
func (s *sources) here(file string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.found[file]; ok {
		return known
	}
	known := s.find(file)
	s.found[file] = known
	return known
}

func (s *sources) find(file string) string {
	// The longest prefix is the most particular one.
	for _, from := range slices.SortedFunc(maps.Keys(s.maps), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		if rest, ok := cutPath(file, from); ok {
			file = filepath.Join(s.maps[from], rest)
			break
		}
	}
	if filepath.IsAbs(file) {
		return filepath.Clean(file)
	}
	for _, folder := range s.folders {
		if info, err := os.Stat(filepath.Join(folder, file)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(folder, file)
		}
	}
	return filepath.Join(s.folders[0], file)
}

// cutPath removes a folder from the beginning of a path.
func cutPath(file, folder string) (rest string, ok bool) {
	folder = strings.TrimSuffix(folder, "/")
	rest, ok = strings.CutPrefix(file, folder)
	return strings.TrimPrefix(rest, "/"), ok && (rest == "" || rest[0] == '/')
}

// errNoSource says that the program has no source file of a path.
var errNoSource = errors.New("the program has no such source file")

// locate finds the places of a line, by the path that the client has for its file. Debug information may have the path as it was on
// another machine, or a relative one, so that of the path only so much counts as some file of the program has at its end.
func (s *sources) locate(p *symbol.Program, at sourceLine) ([]symbol.Location, error) {
	return p.Locate(s.spec(p, at))
}

// spec is a line as Program.Locate takes it.
func (s *sources) spec(p *symbol.Program, at sourceLine) string {
	return fmt.Sprintf("-source %s -line %d", quoted(s.there(p, at.path)), at.line)
}

// there is how debug information may name a file of this machine.
func (s *sources) there(p *symbol.Program, file string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[file]; ok {
		return known
	}
	known, ok := s.look(p, file)
	if ok { // a library that is loaded later may have it
		s.known[file] = known
	}
	return known
}

func (s *sources) look(p *symbol.Program, file string) (string, bool) {
	for from, to := range s.maps {
		if rest, ok := cutPath(filepath.ToSlash(file), filepath.ToSlash(to)); ok {
			return path.Join(from, rest), true
		}
	}
	rest := filepath.ToSlash(file)
	for rest != "" {
		for _, o := range p.Objects() {
			for _, known := range o.File().SourceFiles() {
				if known == rest || strings.HasSuffix(known, "/"+strings.TrimPrefix(rest, "/")) {
					return known, true
				}
			}
		}
		_, behind, ok := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		if !ok {
			break
		}
		rest = behind
	}
	return file, false
}

// quoted is a name that may have blanks in it.
func quoted(name string) string {
	if strings.ContainsAny(name, " \t:") {
		return "'" + name + "'"
	}
	return name
}

// source is a file as clients see it.
func (s *session) source(file string) *protocol.Source {
	here := s.sources.here(file)
	return &protocol.Source{Name: text.Visible(filepath.Base(here)), Path: here}
}

// loadedSources lists the source files of the program's own file; libraries may have tens of thousands.
func loadedSources(s *session, _ *protocol.LoadedSourcesArguments) (any, error) {
	body := protocol.LoadedSourcesResponseBody{Sources: []protocol.Source{}}
	if p := s.debuggee.names().program; p != nil {
		for _, file := range p.Main().File().SourceFiles() {
			body.Sources = append(body.Sources, *s.source(file))
		}
	}
	return body, nil
}

// mostSource is the size in bytes of the largest source file that is sent.
const mostSource = 4 << 20

// source sends the text of a source file of the program, to a client that cannot read it itself.
func source(s *session, a *protocol.SourceArguments) (any, error) {
	p := s.debuggee.names().program
	if a.Source == nil || a.Source.Path == "" || p == nil {
		return nil, errNoSource
	}
	for _, o := range p.Objects() {
		for _, file := range o.File().SourceFiles() {
			if s.sources.here(file) == filepath.Clean(a.Source.Path) {
				content, err := regularfile.Read(a.Source.Path, mostSource)
				return protocol.SourceResponseBody{Content: strings.ToValidUTF8(string(content), "\uFFFD")}, err
			}
		}
	}
	return nil, errNoSource
}
