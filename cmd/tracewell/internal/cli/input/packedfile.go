package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/packed"
	"tracewell/internal/progress"
	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/tfile/ctf"
	"tracewell/tfile/tracetext"
)

// PackedFile is a file that a command reads, unpacked if it is compressed. It can be read at any offset by several goroutines, as
// io.ReaderAt requires. A plain regular file must not be changed meanwhile: it is read where it is.
type PackedFile struct {
	*packed.File
	Name   string // for messages
	Damage error  // where a compressed file stops being readable, nil for a whole one

	Source *os.File     // nil for standard input, which is not closed
	text   *packed.File // the text that File was made of, nil for none
}

// OpenPacked opens a file, "-" being standard input. Unpacking it shows a progress bar if it takes its time.
func OpenPacked(path string, streams console.Streams) (*PackedFile, error) {
	p := &PackedFile{Name: path}
	source := streams.In
	if path == "-" {
		p.Name = "standard input"
	} else {
		var err error
		if source, err = os.Open(path); err != nil {
			return nil, err
		}
		p.Source = source
	}
	if HoldsCTF(path) {
		source.Close()
		return nil, fmt.Errorf("%s holds a CTF trace, which show reads, and convert: tracewell convert %s run.tf", path, path)
	}
	unpack := func(progress func(int64)) (*packed.File, error) { return packed.Open(source, progress) }
	if err := p.fill(SizeOf(source), unpack, streams); err != nil {
		p.Source.Close()
		return nil, err
	}
	return p, nil
}

// ReadPacked is OpenPacked for what comes from a pipe of that name, which may have been read in part already.
func ReadPacked(name string, pipe io.Reader, streams console.Streams) (*PackedFile, error) {
	p := &PackedFile{Name: name}
	unpack := func(progress func(int64)) (*packed.File, error) { return packed.OpenReader(pipe, progress) }
	if err := p.fill(0, unpack, streams); err != nil {
		return nil, err
	}
	return p, nil
}

// fill has the content unpacked from size bytes, which are 0 if nobody knows.
func (p *PackedFile) fill(size int64, unpack func(progress func(int64)) (*packed.File, error), streams console.Streams) error {
	work := progress.Work{Name: "unpacking " + text.Visible(p.Name), Total: size}
	if size == 0 {
		work.Name = "reading " + text.Visible(p.Name) // as it comes, compressed or not
	}
	bar := progress.Start(streams.Err, work)
	defer bar.Done()
	var err error
	p.File, err = unpack(bar.Set)
	// A file that is cut off has content all the same; commands show it, and return Damage in the end.
	var damage *packed.DamageError
	if errors.As(err, &damage) {
		p.Damage = err
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}

// HoldsCTF reports whether a path is a folder that holds a trace in the Common Trace Format: its file of metadata begins as ctf.Is
// requires. A path that is no folder has no such file.
func HoldsCTF(path string) bool {
	metadata, err := os.Open(filepath.Join(path, ctf.MetadataName))
	if err != nil {
		return false
	}
	defer metadata.Close()
	head := make([]byte, 64)
	n, err := io.ReadFull(metadata, head)
	return (err == nil || err == io.ErrUnexpectedEOF) && ctf.Is(head[:n])
}

// SizeOf is the size of a regular file in bytes, 0 for anything else: a progress bar then has no end.
func SizeOf(f *os.File) int64 {
	status, err := f.Stat()
	if err != nil || !status.Mode().IsRegular() {
		return 0
	}
	return status.Size()
}

// Head returns the beginning of the file, unpacked, by which its kind is known: 64 bytes, or fewer of a shorter file. It is nil if
// it cannot be read, which is then reported by whoever reads on.
func (p *PackedFile) Head() []byte {
	head := make([]byte, 64)
	n, err := p.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil
	}
	return head[:n]
}

// OpenTraceBytes opens a trace file, or the text of one, which is taken for the file that it describes.
func OpenTraceBytes(path string, streams console.Streams) (*PackedFile, error) {
	p, err := OpenPacked(path, streams)
	if err != nil || !tracetext.Is(p.Head()) {
		return p, err
	}
	if err := p.ReadText(streams); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// ReadText makes of a text the trace file that it describes, in memory or a temporary file. The text stays open until Close.
func (p *PackedFile) ReadText(streams console.Streams) error {
	bar := progress.Start(streams.Err, progress.Work{Name: "reading " + text.Visible(p.Name), Total: p.Size()})
	defer bar.Done()
	described, err := packed.Gather(func(w io.Writer) error {
		return tracetext.Read(io.NewSectionReader(p, 0, p.Size()), w, tracetext.WithProgress(bar.Set))
	})
	if err != nil {
		return p.Explain(err)
	}
	p.File, p.text = described, p.File
	return nil
}

// Close closes the file and what it was unpacked to, which is removed with that: a temporary file has no name.
func (p *PackedFile) Close() error {
	err := p.File.Close()
	if p.text != nil {
		err = errors.Join(err, p.text.Close())
	}
	if p.Source != nil {
		err = errors.Join(err, p.Source.Close())
	}
	return err
}

// Index opens the trace file that p holds. As from tfile.Open there may be both a File and an error; a compressed file that
// is cut off is one, though the trace file in it may be whole. Reading it shows a progress bar if it takes its time.
func (p *PackedFile) Index(streams console.Streams, opts ...tfile.Option) (*tfile.File, error) {
	bar := progress.Start(streams.Err, progress.Work{Name: "reading " + text.Visible(p.Name), Total: p.Size()})
	defer bar.Done()
	opts = append(opts[:len(opts):len(opts)], tfile.WithProgress(bar.Set))
	file, err := p.index(opts)
	var damage *packed.DamageError
	if p.Source == nil || !errors.As(err, &damage) {
		return file, p.Explain(err)
	}
	// Damage of a large compressed file shows when it is reached. Then it is unpacked from its beginning, as far as it goes.
	p.File.Close()
	unpack := func(progress func(int64)) (*packed.File, error) {
		return packed.OpenReader(io.NewSectionReader(p.Source, 0, SizeOf(p.Source)), progress)
	}
	if err := p.fill(SizeOf(p.Source), unpack, streams); err != nil {
		return nil, err
	}
	file, err = p.index(opts)
	return file, p.Explain(err)
}

// index is Index for the content as it is.
func (p *PackedFile) index(opts []tfile.Option) (*tfile.File, error) {
	// Content that is in memory is used without copies.
	if content := p.Bytes(); content != nil {
		return tfile.OpenBytes(content, opts...)
	}
	return tfile.Open(p, p.Size(), opts...)
}

// Explain adds the name of the file to an error of what is read from it, and in front, as it may be the cause, where a
// compressed file stops being readable. Without any error it is nil.
func (p *PackedFile) Explain(err error) error {
	switch {
	case p.Damage != nil && err != nil:
		return fmt.Errorf("%s: %w; %w", p.Name, p.Damage, err)
	case p.Damage != nil:
		return fmt.Errorf("%s: %w", p.Name, p.Damage)
	case err != nil:
		return fmt.Errorf("%s: %w", p.Name, err)
	}
	return nil
}
