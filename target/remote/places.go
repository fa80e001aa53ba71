package remote

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"tracewell/arch"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/target"
)

// place is an address at which something is inserted at the stub, once for all who want it there.
type place struct {
	addr       arch.Addr          // see Target.short
	called     arch.Addr          // the same, as the tracepoints there have it
	length     int                // what Z has for it: of most machines, bytes of the breakpoint instruction
	soft, hard *target.Breakpoint // the client's
	location   bool               // the handler of tracepoints is called
	either     bool               // the client's is inserted as the other kind, too
	elsewhere  bool               // the stub's own tracepoint is there, which has semaphores
	semaphores []arch.Addr        // that were raised for it

	inserted   bool
	kind       target.BreakKind // Software or Hardware, as it is inserted
	written    bool             // the instruction was written from here, by a stub without Z
	own, there []byte           // the program's bytes, and the breakpoint's, where the stub shows these
}

// watch is what tells a watchpoint from others.
type watch struct {
	kind   target.BreakKind
	addr   arch.Addr
	length int
}

// wanted reports whether anybody wants a place.
func (p *place) wanted() bool { return p.soft != nil || p.hard != nil || p.location }

// insert inserts what a place needs. A tracepoint takes what it can get, a client what it has asked for.
func (t *Target) insert(p *place) error {
	if p.inserted {
		return nil
	}
	kinds := []target.BreakKind{target.Software, target.Hardware}
	switch {
	case p.location || p.either:
	case p.soft == nil:
		kinds = kinds[1:]
	default:
		kinds = kinds[:1]
	}
	var errs []error
	for _, kind := range kinds {
		err := t.insertAs(p, kind)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
		if client.IsLost(err) {
			break
		}
	}
	// GDB would write its own where it is told that there is no Z0, and then nobody could evaluate its condition.
	if kinds[0] == target.Software && errors.Is(errors.Join(errs...), target.ErrUnsupported) && t.lost() == nil {
		return t.insertWritten(p)
	}
	return errors.Join(errs...)
}

// insertWritten writes the breakpoint instruction into memory. That it is there is looked at: flash memory takes no writes.
func (t *Target) insertWritten(p *place) error {
	trap := t.isa.Machine.Breakpoint
	if p.length < 4 && t.isa.Machine.ShortBreakpoint != nil {
		trap = t.isa.Machine.ShortBreakpoint
	}
	if len(trap) == 0 {
		return fmt.Errorf("the stub has no breakpoints, and the breakpoint instruction of %s is not known", t.isa.Machine.Title)
	}
	own, there := make([]byte, len(trap)), make([]byte, len(trap))
	if n, err := t.read(t.current, p.addr, own); n < len(own) {
		return fmt.Errorf("the code at %s cannot be read: %w", p.addr, err)
	}
	err := t.write(t.current, p.addr, trap)
	if err == nil {
		var n int
		if n, err = t.read(t.current, p.addr, there); n < len(there) || !bytes.Equal(there, trap) {
			err = errors.Join(fmt.Errorf("no breakpoint can be written to %s, which is not RAM", p.addr), err)
		}
	}
	if err == nil || client.IsLost(err) { // then nobody knows whether it is there
		p.inserted, p.written, p.kind, p.own, p.there = true, true, target.Software, own, trap
	}
	return err
}

// insertAs inserts a place as one kind of breakpoint, and finds out once whether the stub then shows it in memory.
func (t *Target) insertAs(p *place, kind target.BreakKind) error {
	look := kind == target.Software && (t.shows || !t.shown)
	p.own, p.there = nil, nil
	own := make([]byte, max(p.length, len(t.isa.Machine.Breakpoint)))
	if look {
		n, err := t.read(t.current, p.addr, own)
		if client.IsLost(err) {
			return err
		}
		own = own[:n]
	}
	b := request.Breakpoint{Kind: int(kind), Addr: p.addr, Length: p.length}
	if err := command(&t.link, request.InsertBreak, b); err != nil {
		switch {
		case client.IsLost(err): // nobody knows whether the stub has it
			p.inserted, p.kind = true, kind
			return err
		case client.IsUnsupported(err):
			return target.ErrUnsupported
		case kind == target.Hardware:
			return fmt.Errorf("the stub has no hardware breakpoint for it: %w", err)
		case client.Rejected(err):
			return fmt.Errorf("the stub inserts no software breakpoint there: %w", err)
		}
		return err
	}
	p.inserted, p.kind = true, kind
	if !look || len(own) == 0 {
		return nil
	}
	shows := t.shows
	t.shows = false // what is read now is to be what is there
	there := make([]byte, len(own))
	n, err := t.read(t.current, p.addr, there)
	changed := n == len(own) && !bytes.Equal(own, there)
	if t.shows, t.shown = shows || changed, true; changed {
		p.own, p.there = own, there
	}
	if client.IsLost(err) {
		return err
	}
	return nil
}

// lift removes what is inserted at a place, which stays wanted.
func (t *Target) lift(p *place) error {
	if !p.inserted {
		return nil
	}
	b := request.Breakpoint{Kind: int(p.kind), Addr: p.addr, Length: p.length}
	var err error
	switch {
	case p.written && t.hasVanished(p): // what is there is the program's own
	case p.written:
		err = t.write(t.current, p.addr, p.own)
	default:
		err = command(&t.link, request.RemoveBreak, b)
	}
	if client.Rejected(err) && p.kind == target.Software && t.isGone(p.addr) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("the breakpoint at %s cannot be removed: %w", p.addr, err)
	}
	p.inserted, p.written = false, false
	return nil
}

// isGone reports whether there is no memory any more where code was, as when a library has been unloaded.
func (t *Target) isGone(addr arch.Addr) bool {
	n, err := t.read(t.current, addr, make([]byte, 1))
	return n == 0 && client.Rejected(err)
}

// settle brings what is inserted at a place into line with what is wanted there.
func (t *Target) settle(p *place) error {
	want := target.Software
	if p.soft == nil && !p.location {
		want = target.Hardware
	}
	was := *p
	if p.inserted && (!p.wanted() || want != p.kind && !p.location) {
		if err := t.lift(p); err != nil {
			return err
		}
	}
	if !p.wanted() {
		if !p.elsewhere {
			delete(t.places, p.addr)
		}
		return nil
	}
	err := t.insert(p)
	if err == nil || !was.inserted || client.IsLost(err) {
		return err
	}
	p.either = true // the stub has none of the other kind: what was there does as well
	return t.insert(p)
}

// placeAt is the place at an address, a new one if there is none.
func (t *Target) placeAt(addr arch.Addr) *place {
	addr = t.short(addr)
	p := t.places[addr]
	if p == nil {
		p = &place{addr: addr}
		t.places[addr] = p
	}
	return p
}

// lengthAt is what Z has for a breakpoint at an address.
func (t *Target) lengthAt(addr arch.Addr) int {
	m := t.isa.Machine
	if m.BreakKind == nil {
		return max(1, len(m.Breakpoint))
	}
	code := make([]byte, 2)
	if n, _ := t.read(t.current, addr, code); n < len(code) {
		return max(1, len(m.Breakpoint))
	}
	return m.BreakKind(code, func(register string) (uint64, bool) {
		slot := t.layout.ByName(register)
		if slot == nil {
			return 0, false
		}
		v, err := t.value(t.current, slot.Reg.Num)
		return v, err == nil
	})
}

// Breakpoints implements target.Groups.
func (t *Target) Breakpoints() target.Breakpoints { return t }

// InsertBreakpoint implements target.Breakpoints. Conditions stay here: stubs say OK to those that they do not evaluate.
func (t *Target) InsertBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	return t.do(func() error {
		if err := t.present(id); err != nil {
			return err
		}
		if b.Kind > target.Hardware {
			return t.insertWatch(b)
		}
		p := t.placeAt(b.Addr)
		before := *p
		if p.length == 0 {
			p.length = b.Length
		}
		if p.length == 0 {
			p.length = t.lengthAt(b.Addr)
		}
		if b.Kind == target.Software {
			p.soft = &b
		} else {
			p.hard = &b
		}
		err := t.settle(p)
		if err != nil && !p.inserted {
			if *p = before; !p.wanted() {
				delete(t.places, t.short(b.Addr))
			}
		}
		return err
	})
}

func (t *Target) insertWatch(b target.Breakpoint) error {
	w := watch{b.Kind, t.short(b.Addr), b.Length}
	if t.watches[w] == nil {
		err := t.zWatch(request.InsertBreak, watch{b.Kind, b.Addr, b.Length})
		if client.IsUnsupported(err) {
			return target.ErrUnsupported
		} else if err != nil {
			return err
		}
	}
	t.watches[w] = &b
	return nil
}

// zWatch sends Z or z of a watchpoint.
func (t *Target) zWatch(f *request.Form[request.Breakpoint], w watch) error {
	return command(&t.link, f, request.Breakpoint{Kind: int(w.kind), Addr: w.addr, Length: w.length})
}

// RemoveBreakpoint implements target.Breakpoints.
func (t *Target) RemoveBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	return t.do(func() error {
		if t.ended {
			return nil
		}
		if b.Kind > target.Hardware {
			w := watch{b.Kind, t.short(b.Addr), b.Length}
			if t.watches[w] == nil {
				return nil
			}
			delete(t.watches, w)
			return t.zWatch(request.RemoveBreak, watch{b.Kind, b.Addr, b.Length})
		}
		p := t.places[t.short(b.Addr)]
		if p == nil {
			return nil
		}
		if b.Kind == target.Software {
			p.soft = nil
		} else {
			p.hard = nil
		}
		return t.settle(p)
	})
}

// removeAll takes out whatever is inserted. What cannot be removed is named.
func (t *Target) removeAll() error {
	var errs []error
	for _, p := range t.places {
		errs = append(errs, t.lower(p), t.lift(p))
	}
	for w := range t.watches {
		if err := t.zWatch(request.RemoveBreak, w); err != nil {
			errs = append(errs, fmt.Errorf("the watchpoint at %s cannot be removed: %w", w.addr, err))
			continue
		}
		delete(t.watches, w)
	}
	t.leave()
	clear(t.places)
	clear(t.watches)
	clear(t.standing)
	clear(t.stepping)
	return errors.Join(errs...)
}

// Tracer implements target.Groups.
func (t *Target) Tracer() target.Tracer { return tracer{t} }

// tracer is the target with its Collector.
type tracer struct{ *Target }

// SetHandler implements target.Tracer.
func (t *Target) SetHandler(h target.Handler) { _ = t.do(func() error { t.handler = h; return nil }) }

// Install implements target.Tracer.
func (t *Target) Install(_ int, at arch.Addr, semaphores []arch.Addr) error {
	return t.do(func() error {
		if err := t.present(t.current); err != nil {
			return err
		}
		p := t.placeAt(at)
		if p.location {
			return nil
		}
		if p.length == 0 {
			p.length = t.lengthAt(at)
		}
		p.location, p.called = true, at
		err := t.insert(p)
		if err == nil {
			err = t.raise(p, semaphores)
		}
		if err != nil {
			p.location = false
			return errors.Join(err, t.settle(p))
		}
		return nil
	})
}

// Uninstall implements target.Tracer.
func (t *Target) Uninstall(_ int, at arch.Addr) error {
	return t.do(func() error {
		if p := t.places[t.short(at)]; p != nil && p.location && !t.ended {
			return t.uninstall(p)
		}
		return nil
	})
}

func (t *Target) uninstall(p *place) error {
	p.location = false
	return errors.Join(t.lower(p), t.settle(p))
}

// uninstallAll ends a run by itself, as a verdict asks for.
func (t *Target) uninstallAll() {
	for _, p := range t.places {
		if p.location {
			_ = t.uninstall(p) // the stub forgets it, or the engine hears of the connection's end
		}
	}
	clear(t.stepping)
}

// raise adds one to semaphores, which tell the program that it is traced; lower takes that back.
func (t *Target) raise(p *place, semaphores []arch.Addr) error {
	for _, at := range semaphores {
		if err := t.count(at, 1); err != nil {
			return errors.Join(err, t.lower(p))
		}
		p.semaphores = append(p.semaphores, at)
	}
	return nil
}

func (t *Target) lower(p *place) error {
	var errs []error
	var raised []arch.Addr
	for _, at := range slices.Backward(p.semaphores) {
		if err := t.count(at, ^uint16(0)); err != nil {
			errs, raised = append(errs, err), append(raised, at)
		}
	}
	p.semaphores = raised
	return errors.Join(errs...)
}

func (t *Target) count(at arch.Addr, more uint16) error {
	b := make([]byte, 2)
	if n, err := t.read(t.current, at, b); n < len(b) {
		return fmt.Errorf("the semaphore at %s cannot be read: %w", at, err)
	}
	t.isa.Order.PutUint16(b, t.isa.Order.Uint16(b)+more)
	return t.write(t.current, at, b)
}
