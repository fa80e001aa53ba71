//go:build linux

package local

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"

	"tracewell/arch"
	"tracewell/internal/sys"
	"tracewell/record"
	"tracewell/target"
)

// launchError says why a program could not be started.
func launchError(p target.Program, err error) error {
	command := p.Path
	if len(p.Wrapper) > 0 {
		command = p.Wrapper[0]
	}
	var lookup *exec.Error
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("cannot run %s: it is not in PATH", command)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot run %s: there is no such file", command)
	// ENOEXEC: the file is there, and the kernel has no loader for it.
	case sys.NoProgram(err):
		if machine, ok := machineOf(command); ok {
			here := cmp.Or(arch.ByGOARCH(runtime.GOARCH), arch.Unknown)
			return fmt.Errorf("cannot run %w", record.Foreign(command, machine, here))
		}
		return fmt.Errorf("cannot run %s: it is no program", command)
	// exec.Error repeats the name of the command.
	case errors.As(err, &lookup):
		err = lookup.Err
	}
	return fmt.Errorf("cannot run %s: %w", command, err)
}

// machineOf returns the processor that the program of a command is for, false if it is no ELF file.
func machineOf(command string) (elf.Machine, bool) {
	path, err := exec.LookPath(command)
	if err != nil {
		return 0, false
	}
	// A script or an archive has no machine.
	file, err := elf.Open(path)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	return file.Machine, true
}
