//go:build linux

package linux

import (
	"fmt"

	"tracewell/arch"
)

// warnings are failures that no method returns, because none was called or because what it was called for has been done.
type warnings chan error

// maxWarnings is how many warnings wait to be received. Further ones are dropped: they tell of the same trouble.
const maxWarnings = 16

// Warnings brings what has gone wrong without anybody being told otherwise: that the program's own code could not be put back where
// a breakpoint was removed, or that one could not be inserted again. It is closed when the target has been closed.
func (t *Target) Warnings() <-chan error { return t.warnings }

// warn reports an error, if there is one.
func (s *addrSpace) warn(err error) {
	if err != nil {
		s.note(fmt.Errorf("%w; restart the program, for what it does there is undefined", err))
	}
}

// note tells the user of something that harms nobody.
func (s *addrSpace) note(err error) {
	select {
	case s.warnings <- fmt.Errorf("process %d: %w", s.pid, err):
	default:
	}
}

// readable reports whether there is still memory at an address.
func (s *addrSpace) readable(addr arch.Addr) bool {
	var b [1]byte
	_, err := s.read(addr, b[:])
	return err == nil
}
