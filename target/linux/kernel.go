//go:build linux

package linux

import "tracewell/internal/sys"

// otherKernel is answers of kernels that are not at hand, such as one with SELinux, which tests give in place of this one's. It is
// empty otherwise.
type otherKernel struct {
	status map[string]string                      // fields of /proc/PID/status
	errno  func(number uint64, args []uint64) int // of a system call that a program is made to make; 0 has it made
	option func(options int) error                // of PTRACE_SETOPTIONS; nil has the options set
}

// statusField is sys.StatusField.
func (k *otherKernel) statusField(tid int, name string) (string, error) {
	if value, ok := k.status[name]; ok {
		return value, nil
	}
	return sys.StatusField(tid, name)
}

// setOptions is sys.SetOptions.
func (k *otherKernel) setOptions(tid, options int) error {
	if k.option != nil {
		if err := k.option(options); err != nil {
			return err
		}
	}
	return sys.SetOptions(tid, options)
}

// refuse returns the error number by which a system call fails, 0 if it is to be made.
func (k *otherKernel) refuse(number uint64, args []uint64) int {
	if k.errno == nil {
		return 0
	}
	return k.errno(number, args)
}
