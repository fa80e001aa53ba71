package convert

import (
	"fmt"
	"slices"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/tfile"
	"tracewell/tfile/edit"
)

// source is one of the files that convert reads.
type source struct {
	name  string
	parts []edit.Part       // what it holds; trace files may lie one behind the other in one file
	bytes *input.PackedFile // of the trace file that it is, nil for what is kept in another format
	err   error             // where it stops being readable

	close func() error
}

// openSources opens the files, which are of the format that is named, or if that is empty of what they look like. If one cannot
// be opened those in front of it are closed again.
func openSources(operands []*operand, from string, streams console.Streams) ([]*source, error) {
	var sources []*source
	for _, o := range operands {
		s, err := openSource(o, from, streams)
		if err != nil {
			closeSources(sources)
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

// closeSources closes sources that are only read, so that errors of closing mean nothing.
func closeSources(sources []*source) {
	for _, s := range sources {
		s.close()
	}
}

// wellFormed reports whether the file is one trace file, whole. Only such a one is copied as it is: a copy of several in a row
// would be one that GDB reads the first of.
func (s *source) wellFormed() bool { return s.bytes != nil && s.err == nil && len(s.parts) == 1 }

// hasBytes reports whether the file is a trace file, or several, in whatever state.
func (s *source) hasBytes() bool { return s.bytes != nil }

// openSource opens one operand. A source may come with an error, which is then in it: what is intact can be converted. The source
// closes the file; if there is no source the file is closed here.
func openSource(o *operand, from string, streams console.Streams) (*source, error) {
	f := formatNamed(from, Formats)
	if o.path != "-" && isFolder(o.path) {
		return openFolder(o.path, f, streams)
	}
	// The format is known by the content where --from does not name one.
	file, err := o.openPacked(streams)
	if err != nil {
		return nil, err
	}
	if f == nil {
		f = formatOf(file)
	}
	if f.read == nil {
		file.Close()
		return nil, fmt.Errorf("%s: %s is a folder of files, and this is none", file.Name, f.Name)
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
func openFolder(name string, f *format, streams console.Streams) (*source, error) {
	if f == nil {
		f = folderFormat()
	}
	if f.readFolder == nil {
		return nil, fmt.Errorf("%s: is a folder, which %s is not", name, f.Name)
	}
	s, err := f.readFolder(name, streams)
	if s == nil {
		return nil, err
	}
	s.err = err
	return s, nil
}

// readTrace reads a trace file, or several that lie one behind the other. The error may come with a source of what is
// whole.
func readTrace(p *input.PackedFile, streams console.Streams) (*source, error) {
	file, err := p.Index(streams)
	if file == nil {
		return nil, err
	}
	s := &source{name: p.Name, bytes: p, close: p.Close, parts: []edit.Part{{Name: p.Name, Content: file}}}
	joined := func(f tfile.Finding) bool { return f.Rule == tfile.RuleConcatenated }
	if slices.ContainsFunc(file.Findings(), joined) {
		if err = s.split(); len(s.parts) == 0 {
			return nil, err
		}
	}
	return s, err
}

// split makes a part of each of the trace files in one, as "cat a.tf b.tf" makes it. The error says where the first stops that is
// damaged; later ones are read all the same.
func (s *source) split() error {
	s.parts = nil
	var damage error
	for file, err := range tfile.OpenAll(s.bytes, s.bytes.Size()) {
		if damage == nil {
			damage = err
		}
		if file != nil {
			name := fmt.Sprintf("%s (file %d in it)", s.name, len(s.parts)+1)
			s.parts = append(s.parts, edit.Part{Name: name, Content: file})
		}
	}
	return s.bytes.Explain(damage)
}

// readTraceText reads the text of a trace file by making the trace file that it describes, and reading that.
func readTraceText(p *input.PackedFile, streams console.Streams) (*source, error) {
	if err := p.ReadText(streams); err != nil {
		return nil, err
	}
	return readTrace(p, streams)
}

// formatOf finds out what a file holds. What no format recognises is taken for a trace file, to be told where it is none.
func formatOf(p *input.PackedFile) *format {
	head := p.Head()
	for _, f := range Formats {
		if f.recognise != nil && f.recognise(head) {
			return f
		}
	}
	return Formats[0]
}
