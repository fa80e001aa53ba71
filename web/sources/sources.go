// Package sources offers source files to a page in a browser.
//
// The debugging information of a program names its source files, and whoever made the program may have put any name there, that of
// a private key as well. So a file is offered only if it lies below a folder that the user has vouched for, by naming it or
// by opening a program in it; symbolic links are followed before that is decided. It has to be a regular file of at most MaxSize
// bytes of text. A page asks for a file by the number under which it was offered, never by a name.
package sources

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"tracewell/internal/regularfile"
	"tracewell/view/wire"
	"tracewell/web/arguments"
)

// MaxSize is how many bytes a source file may have.
const MaxSize = 2 << 20

// Why a file is not offered. The path where it was looked for is not told.
var (
	errOutside = errors.New("it does not lie in the program's folder; --source DIR allows others")
	errMissing = errors.New("it is not on this machine; --source DIR says where to look for it")
)

// Sources are files that a page may ask for. It may be used by several goroutines.
type Sources struct {
	folders []string // without symbolic links
	named   []string // of these, those that the user named, as he did; names are looked for below them, too

	mu    sync.Mutex
	files []file
	known map[string]int
}

// file is a source file by the name in the debugging information.
type file struct {
	name string
	path string // without symbolic links; "" if err says why it is not offered
	err  error
}

// New returns an offer of no files. Files may lie in the folder of the program, "" for no program, and in the folders that
// the user named.
func New(program string, named []string) (*Sources, error) {
	s := &Sources{known: make(map[string]int)}
	folders := named
	if program != "" {
		folders = append([]string{filepath.Dir(program)}, named...)
	}
	for _, folder := range folders {
		real, err := realPath(folder)
		if err != nil {
			return nil, err
		}
		s.folders = append(s.folders, real)
	}
	s.named = named
	return s, nil
}

// realPath is an absolute path without symbolic links.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// Offer returns the number of a file by the name that debugging information has for it, whether it can be shown or not.
func (s *Sources) Offer(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.known[name]; ok {
		return n
	}
	n := len(s.files)
	s.known[name] = n
	f := file{name: name}
	f.path, f.err = s.find(name)
	s.files = append(s.files, f)
	return n
}

// find looks for a file where its name says, and then below the folders that the user named: a program is often built elsewhere.
func (s *Sources) find(name string) (string, error) {
	var candidates []string
	switch {
	case filepath.IsAbs(name):
		candidates = append(candidates, name)
	case len(s.folders) > 0: // the compiler was given a path from the folder that it ran in, which is often that of the program
		candidates = append(candidates, filepath.Join(s.folders[0], name))
	}
	slashed := strings.TrimLeft(filepath.ToSlash(name), "/")
	for _, folder := range s.named {
		for rest, more := slashed, true; more; _, rest, more = strings.Cut(rest, "/") {
			candidates = append(candidates, filepath.Join(folder, filepath.FromSlash(rest)))
		}
	}
	reason := errMissing
	for _, candidate := range candidates {
		path, err := realPath(candidate)
		if err == nil && s.below(path) {
			return path, nil
		}
		if err == nil {
			reason = errOutside
		}
	}
	return "", reason
}

// below reports whether a path without symbolic links lies in a folder that is allowed, at any depth.
func (s *Sources) below(path string) bool {
	for _, folder := range s.folders {
		if rest, err := filepath.Rel(folder, path); err == nil && filepath.IsLocal(rest) {
			return true
		}
	}
	return false
}

// Names returns the files that were offered, by their numbers.
func (s *Sources) Names() []wire.SourceName {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := []wire.SourceName{}
	for i, f := range s.files {
		names = append(names, wire.SourceName{File: i, Name: f.name, Path: f.path})
	}
	return names
}

// Read returns a file with its lines. A file that cannot be shown has the reason in place of lines; the error is of a number under
// which none was offered.
func (s *Sources) Read(number int) (wire.SourceFile, error) {
	s.mu.Lock()
	if number < 0 || number >= len(s.files) {
		s.mu.Unlock()
		return wire.SourceFile{}, fmt.Errorf("there is no source file %d", number)
	}
	f := s.files[number]
	s.mu.Unlock()
	shown := wire.SourceFile{File: number, Name: f.name}
	lines, err := f.read()
	if err != nil {
		shown.Error = err.Error()
	}
	shown.Lines = lines
	return shown, nil
}

// Answer answers a page that asks for the file whose number is the argument "file". There are no files where there is no program:
// s may be nil.
func (s *Sources) Answer(args url.Values) (any, error) {
	if s == nil {
		return nil, errors.New("there is no program, which would name source files")
	}
	n, err := arguments.Int64(args, "file")
	if err != nil {
		return nil, err
	}
	return s.Read(int(n))
}

func (f *file) read() ([]string, error) {
	if f.err != nil {
		return nil, f.err
	}
	content, err := regularfile.Read(f.path, MaxSize)
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(content, 0) >= 0 {
		return nil, errors.New("it is no text")
	}
	text := strings.TrimSuffix(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
	return strings.Split(text, "\n"), nil
}
