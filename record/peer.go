package record

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tracewell/target"
)

// Peer is the Host of a program that somebody else has started and that a target leads to, such as the firmware behind a stub. It
// stands still from when the target stopped it until the run begins, and goes on when that has ended.
//
// Files of the program are read on this machine where they are the same build as there, and copied otherwise.
type Peer struct {
	on     target.Target
	file   string
	close  func() error
	folder string            // of copies, "" for none
	copies map[string]string // their origins
}

// NewPeer makes the Host of whatever a target has. The file of the program may be "" if the target says which it is. close ends the
// target; nil if nothing has to be done.
func NewPeer(on target.Target, file string, close func() error) *Peer {
	return &Peer{on: on, file: file, close: close, copies: make(map[string]string)}
}

// Target implements Host.
func (p *Peer) Target() target.Target { return p.on }

// Ahead implements Host: the program stands still already.
func (p *Peer) Ahead() []string { return nil }

// Enter implements Host by the process of the first thread. A target without an operating system has one that it calls so.
func (p *Peer) Enter() (Entry, error) {
	threads := p.on.Threads()
	if len(threads) == 0 {
		return Entry{}, errors.New("there is no program: it has ended, or was not started")
	}
	return Entry{PID: threads[0].PID, Still: true}, nil
}

// Newcomers implements Host: there are none.
func (p *Peer) Newcomers() <-chan int { return nil }

// ThreadName implements Host: threads of stubs have no numbers that every stub would tell a name of.
func (p *Peer) ThreadName(int64) string { return "" }

// Join implements Host: there are no newcomers.
func (p *Peer) Join(int) error { return target.ErrNoProcess }

// Executable implements Host.
func (p *Peer) Executable(pid int) (Executable, error) {
	var there string
	err := errors.New("the stub names none")
	if group := p.on.ExecFile(); group != nil {
		there, err = group.ReadExecFile(pid)
	}
	if p.file != "" {
		return p.claimed(pid, there)
	}
	if err != nil {
		return Executable{}, fmt.Errorf("nobody says which program runs there: give its file (--exec): %w", err)
	}
	file, err := p.here(pid, there)
	if err != nil {
		return Executable{}, fmt.Errorf("the program that runs there is not on this machine, and cannot be copied: give its file "+
			"(--exec): %w", err)
	}
	return Executable{Path: there, File: file}, nil
}

// claimed is the file that the user names, which must not be another build than the one that the target names, if any.
func (p *Peer) claimed(pid int, there string) (Executable, error) {
	program := Executable{Path: p.file, File: p.file, Claimed: true}
	if full, err := filepath.Abs(p.file); err == nil {
		program.Path = full
	}
	if f := p.open(pid, there); f != nil {
		defer f.Close()
		if own, runs := buildOf(p.file), buildID(f); own != nil && runs != nil && !bytes.Equal(own, runs) {
			return program, fmt.Errorf("%s is not the program that runs there, but another build of it, or another program", p.file)
		}
	}
	return program, nil
}

// Library implements Host. A file that cannot be had is one that there is not.
func (p *Peer) Library(pid int, name string) string {
	file, err := p.here(pid, name)
	if err != nil {
		return ""
	}
	return file
}

// open opens a file where the program runs, nil if that is not possible.
func (p *Peer) open(pid int, path string) target.File {
	files := p.on.Files()
	if files == nil || path == "" {
		return nil
	}
	f, err := files.Open(pid, path, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	return f
}

// here is a file of this machine with what one has where the program runs: the file of the same path if it is the same build or
// nobody can tell, or else a copy.
func (p *Peer) here(pid int, path string) (string, error) {
	_, missing := os.Stat(path)
	f := p.open(pid, path)
	if f == nil {
		return path, missing
	}
	defer f.Close()
	if missing == nil && bytes.Equal(buildOf(path), buildID(f)) {
		return path, nil
	}
	return p.copied(f, path)
}

// Origin implements Host.
func (p *Peer) Origin(file string) string { return cmp.Or(p.copies[file], file) }

// mostFile is how many bytes a file may have that is copied.
const mostFile = 1 << 30

// copied copies a file into a folder that Close removes. The copy has a name of its own: whoever has the program must not choose
// where something is written.
func (p *Peer) copied(f io.ReaderAt, path string) (string, error) {
	if p.folder == "" {
		folder, err := os.MkdirTemp("", "tracewell-peer-")
		if err != nil {
			return "", err
		}
		p.folder = folder
	}
	out, err := os.CreateTemp(p.folder, "")
	if err != nil {
		return "", err
	}
	n, err := io.Copy(out, io.NewSectionReader(f, 0, mostFile))
	if err == nil && n == mostFile {
		err = fmt.Errorf("the file has %d bytes or more", n)
	}
	p.copies[realPath(out.Name())] = path
	return out.Name(), errors.Join(err, out.Close())
}

// buildOf is the build of a file on this machine, nil if that is not known.
func buildOf(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return buildID(f)
}

// buildID is the note that the linker leaves of the build of an ELF file, nil without one.
func buildID(r io.ReaderAt) []byte {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil
	}
	section := f.Section(".note.gnu.build-id")
	if section == nil {
		return nil
	}
	note, err := section.Data()
	if err != nil {
		return nil
	}
	return note
}

// GroupStops implements Host: there is no job control.
func (p *Peer) GroupStops() <-chan target.GroupStop { return nil }

// Warnings implements Host.
func (p *Peer) Warnings() <-chan error { return nil }

// Untold implements Host.
func (p *Peer) Untold() []target.Event { return nil }

// Pause implements Host: a target that collects without stops of the program says so by a Collector, of which none can be switched
// off.
func (p *Peer) Pause() (resume func(), any bool) { return func() {}, false }

// Await implements Host: the program is not one that was launched.
func (p *Peer) Await(context.Context, func(target.GroupStop)) (Ended, bool) { return Ended{}, false }

// Close implements Host.
func (p *Peer) Close() error {
	var err error
	if p.close != nil {
		err = p.close()
	}
	if p.folder != "" {
		err = errors.Join(err, os.RemoveAll(p.folder))
	}
	return err
}
