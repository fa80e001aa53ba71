package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"tracewell/internal/packed"
	"tracewell/tfile"
	"tracewell/tfile/edit"
)

// source is one of the files that convert reads.
type source struct {
	name  string
	parts []edit.Part // what it holds; trace files may lie one behind the other in one file
	whole *packedFile // the trace file that it is, if that is one, and undamaged; nil for anything else
	err   error       // where it stops being readable

	close func() error
}

// openSources opens the files, which are of the format that is named, or if that is empty of what they look like.
func openSources(names []string, from string, streams Streams) ([]*source, error) {
	var sources []*source
	for _, name := range names {
		s, err := openSource(name, from, streams)
		if err != nil {
			closeSources(sources)
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func closeSources(sources []*source) {
	for _, s := range sources {
		s.close()
	}
}

func openSource(name, from string, streams Streams) (*source, error) {
	var f *format
	if from != "" {
		var err error
		if f, err = formatNamed(from); err != nil {
			return nil, fmt.Errorf("--from: %w", err)
		}
		if f.read == nil && f.readFolder == nil {
			return nil, fmt.Errorf("--from: %s is written only; what can be read is %s", f.name, readFormats())
		}
	}
	if status, err := os.Stat(name); name != "-" && err == nil && status.IsDir() {
		return openFolder(name, f)
	}
	file, err := openPacked(name, streams)
	if err != nil {
		return nil, err
	}
	if f == nil {
		f = formatOf(file)
	}
	if f.read == nil {
		file.Close()
		return nil, fmt.Errorf("%s: %s is a folder of files, and this is none", file.name, f.name)
	}
	s, err := f.read(file, streams)
	if s == nil {
		file.Close()
		return nil, err
	}
	s.err = err
	return s, nil
}

// openFolder opens a format that is a folder.
func openFolder(name string, f *format) (*source, error) {
	if f == nil {
		i := slices.IndexFunc(formats, func(f *format) bool { return f.readFolder != nil })
		if i < 0 {
			return nil, fmt.Errorf("%s: is a folder", name)
		}
		f = formats[i]
	}
	if f.readFolder == nil {
		return nil, fmt.Errorf("%s: is a folder, which %s is not", name, f.name)
	}
	s, err := f.readFolder(name)
	if s == nil {
		return nil, err
	}
	s.err = err
	return s, nil
}

// readTrace reads a trace file, or several that lie one behind the other. The error may come with a source of what is
// whole.
func readTrace(p *packedFile, streams Streams) (*source, error) {
	file, err := p.index(streams)
	if file == nil {
		return nil, err
	}
	s := &source{name: p.name, close: p.Close, parts: []edit.Part{{Name: p.name, Content: file}}}
	if err == nil {
		s.whole = p
	}
	joined := func(f tfile.Finding) bool { return f.Rule == tfile.RuleConcatenated }
	if slices.ContainsFunc(file.Findings(), joined) {
		return s.split(p)
	}
	return s, err
}

// split makes a part of each of the trace files in one.
func (s *source) split(p *packedFile) (*source, error) {
	s.parts, s.whole = nil, nil
	var damage error
	for file, err := range tfile.OpenAll(p, p.Size()) {
		if err != nil && damage == nil {
			damage = err
		}
		if file != nil {
			name := fmt.Sprintf("%s, file %d in it", p.name, len(s.parts)+1)
			s.parts = append(s.parts, edit.Part{Name: name, Content: file})
		}
	}
	return s, p.explain(damage)
}

// formatOf finds out what a file holds. What no format recognises is taken for a trace file, to be told where it is none.
func formatOf(p *packedFile) *format {
	head := make([]byte, 64)
	n, err := p.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		n = 0
	}
	for _, f := range formats {
		if f.recognise != nil && f.recognise(head[:n]) {
			return f
		}
	}
	return formats[0]
}

// gathered is a trace file that another file describes, byte for byte.
func gathered(p *packedFile, write func(io.Writer) error) (*packedFile, error) {
	file, err := packed.Gather(write)
	if err != nil {
		return nil, p.explain(err)
	}
	return &packedFile{File: file, name: p.name, damage: p.damage, source: p.source}, nil
}
