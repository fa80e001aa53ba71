package remote

import (
	"strconv"

	"tracewell/inferior"
	"tracewell/rsp/request"
	"tracewell/target"
)

// Groups of a stub whose program is a process of an operating system. They are there with Options.Processes only: a client of the
// proxy asks for the stub's own objects, which Passage hands on.

// mostObject is the most bytes of an object that is read here.
const mostObject = 1 << 20

// serves reports whether the stub serves an object, and whether that is wanted.
func (t *Target) serves(object string) bool { return t.processes && t.c.Features().Has(object) }

// Auxv implements target.Groups.
func (t *Target) Auxv() target.Auxv {
	if t.serves(request.ReadAuxv.Name()) {
		return t
	}
	return nil
}

// ReadAuxv implements target.Auxv.
func (t *Target) ReadAuxv(int) ([]byte, error) { return t.object("auxv", "") }

// ExecFile implements target.Groups.
func (t *Target) ExecFile() target.ExecFile {
	if t.serves(request.ReadExecFile.Name()) {
		return t
	}
	return nil
}

// ReadExecFile implements target.ExecFile.
func (t *Target) ReadExecFile(pid int) (string, error) {
	path, err := t.object("exec-file", strconv.FormatInt(int64(pid), 16))
	return string(path), err
}

// Libraries implements target.Groups. The list is read from memory, whatever the stub makes of it: where the auxiliary vector is
// the rest can be found.
func (t *Target) Libraries() target.Libraries {
	if t.serves(request.ReadAuxv.Name()) {
		return t
	}
	return nil
}

// ReadLibraries implements target.Libraries.
func (t *Target) ReadLibraries(pid int) (inferior.LinkMap, error) {
	space, err := target.ProgramSpace(t, pid)
	if err != nil {
		return inferior.LinkMap{}, err
	}
	return space.LinkMap()
}

// object reads an object of the stub's.
func (t *Target) object(name, annex string) (b []byte, err error) {
	err = t.do(func() error {
		if err := t.present(t.current); err != nil {
			return err
		}
		if err := t.choose(t.current); err != nil {
			return err
		}
		b, err = t.c.Transfer(name, annex, mostObject)
		return t.check(err)
	})
	return b, err
}
