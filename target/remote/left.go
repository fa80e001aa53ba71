package remote

import (
	"bytes"
	"errors"
	"fmt"

	"tracewell/arch"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/target"
)

// Leftover is what a connection has left in the program: it was lost, or the stub has refused to remove it.
type Leftover struct {
	Addr arch.Addr
	// Kind and Length are those of a breakpoint or watchpoint.
	Kind   target.BreakKind
	Length int
	// Semaphore says that it is a counter of the program's that was raised by one, and no breakpoint.
	Semaphore bool

	written    bool // the instruction of the breakpoint was written, see place
	own, there []byte
}

// String names it for people.
func (l Leftover) String() string {
	if l.Semaphore {
		return fmt.Sprintf("the semaphore at %v, which was raised", l.Addr)
	}
	kind := map[target.BreakKind]string{target.Software: "software breakpoint", target.Hardware: "hardware breakpoint"}[l.Kind]
	if kind == "" {
		kind = "watchpoint"
	}
	return fmt.Sprintf("a %s at %v", kind, l.Addr)
}

// leave notes what is in the program and will not be removed by this connection.
func (t *Target) leave() {
	for _, p := range t.places {
		if p.inserted {
			t.left = append(t.left, Leftover{
				Addr: p.addr, Kind: p.kind, Length: p.length, written: p.written, own: p.own, there: p.there,
			})
		}
		for _, at := range p.semaphores {
			t.left = append(t.left, Leftover{Addr: at, Semaphore: true})
		}
	}
	for w := range t.watches {
		t.left = append(t.left, Leftover{Addr: w.addr, Kind: w.kind, Length: w.length})
	}
}

// Left is what may still be in the program, since the connection was lost or the stub has refused to remove it. It
// may be called after Close.
func (t *Target) Left() (list []Leftover) {
	t.look(func() { list = t.left })
	return list
}

// Remove removes what another connection to the same program has left, before anything is inserted by this one. It returns what the
// stub does not let it remove, with the reasons. A stub that has forgotten a breakpoint is no reason, nor is a program that has
// begun anew.
func (t *Target) Remove(list []Leftover) (still []Leftover, err error) {
	err = t.do(func() error {
		var errs []error
		for i, l := range list {
			if t.ended {
				break
			}
			err := t.remove(l)
			if t.lost() != nil {
				still = append(still, list[i:]...)
				return errors.Join(append(errs, err)...)
			}
			if err != nil {
				still, errs = append(still, l), append(errs, fmt.Errorf("%v: %w", l, err))
			}
		}
		return errors.Join(errs...)
	})
	if errors.Is(err, errClosed) || errors.Is(err, errDeaf) {
		still = list
	}
	return still, err
}

func (t *Target) remove(l Leftover) error {
	if l.Semaphore {
		return t.lowerLeft(l.Addr)
	}
	t.forget()
	if !l.written {
		if err := t.removeLeft(request.Breakpoint{Kind: int(l.Kind), Addr: l.Addr, Length: l.Length}); err != nil {
			return err
		}
	}
	return t.restore(l)
}

// removeLeft removes a breakpoint that may not be there any more. A stub that refuses may have nothing to remove: it is asked to
// insert the breakpoint again, and has one then whatever it had.
func (t *Target) removeLeft(b request.Breakpoint) error {
	err := command(&t.link, request.RemoveBreak, b)
	if err == nil || client.IsLost(err) || client.IsUnsupported(err) {
		return t.lost()
	}
	if command(&t.link, request.InsertBreak, b) == nil && command(&t.link, request.RemoveBreak, b) == nil {
		return nil
	}
	return err
}

// restore puts the program's bytes back where those of a breakpoint are still in memory. Others are the program's by now.
func (t *Target) restore(l Leftover) error {
	if len(l.own) == 0 || bytes.Equal(l.own, l.there) {
		return nil
	}
	b := make([]byte, len(l.there))
	if n, err := t.read(t.current, l.Addr, b); n < len(b) {
		return fmt.Errorf("the code there cannot be read: %w", err)
	}
	if !bytes.Equal(b, l.there) {
		return nil
	}
	if err := t.write(t.current, l.Addr, l.own); err != nil {
		return err
	}
	if n, err := t.read(t.current, l.Addr, b); n < len(b) || !bytes.Equal(b, l.own) {
		return errors.Join(errors.New("the program's own bytes cannot be written back"), err)
	}
	return nil
}

// lowerLeft lowers a semaphore, unless the program has begun anew meanwhile.
func (t *Target) lowerLeft(at arch.Addr) error {
	b := make([]byte, 2)
	if n, err := t.read(t.current, at, b); n < len(b) {
		return fmt.Errorf("it cannot be read: %w", err)
	}
	if t.isa.Order.Uint16(b) == 0 {
		return nil
	}
	return t.count(at, ^uint16(0))
}
