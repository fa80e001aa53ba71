package remote

import (
	"errors"
	"fmt"
	"strconv"

	"tracewell/arch"
	"tracewell/rsp/client"
	"tracewell/rsp/request"
	"tracewell/target"
)

// page is where memory may begin or end that cannot be read, on any machine: a read that fails is tried again up to there.
const page = 4096

// read reads the readable prefix of p and returns its length; the error says why it is short. It reads what it was asked for and
// nothing else. Breakpoints do not show.
func (t *Target) read(id target.ThreadID, addr arch.Addr, p []byte) (int, error) {
	if err := t.choose(id); err != nil {
		return 0, err
	}
	most := (t.c.PacketSize() - 4) / 2 // in hexadecimal, in a frame
	n := 0
	var why error
	for n < len(p) {
		part := p[n:min(len(p), n+most)]
		got, err := t.readPart(addr+arch.Addr(n), part)
		if client.IsLost(err) {
			return 0, err
		}
		if err == nil && got == 0 {
			err = errors.New("the stub reads nothing there")
		}
		if err != nil {
			next := (addr + arch.Addr(n) + page) &^ (page - 1)
			if rest := int(next - addr - arch.Addr(n)); rest < len(part) && most > rest {
				part = part[:rest]
				if got, err = t.readPart(addr+arch.Addr(n), part); err == nil {
					n += got
					continue
				}
			}
			why = err
			break
		}
		n += got
	}
	t.hide(addr, p[:n])
	return n, why
}

// readPart reads by one packet. Of the packets of a hit it is the one that differs from hit to hit, so it is not written by its
// form, which allocates.
func (t *Target) readPart(addr arch.Addr, p []byte) (int, error) {
	t.packet = strconv.AppendUint(append(t.packet[:0], request.ReadMemory.Prefix...), uint64(addr), 16)
	t.packet = strconv.AppendUint(append(t.packet, ','), uint64(len(p)), 16)
	n, err := t.c.Decode(t.packet, p)
	if err == nil && n > len(p) {
		err = &client.ReplyError{
			Packet: string(t.packet), Reply: fmt.Sprintf("%d bytes", n), Expected: fmt.Sprintf("up to %d bytes in hexadecimal", len(p)),
		}
	}
	if err != nil {
		return 0, t.check(err)
	}
	return n, nil
}

// hide puts the program's own bytes where the stub shows its breakpoints.
func (t *Target) hide(addr arch.Addr, b []byte) {
	addr = t.short(addr)
	for at, p := range t.places {
		for i := range p.own {
			if offset := uint64(at) + uint64(i) - uint64(addr); offset < uint64(len(b)) && p.inserted && b[offset] == p.there[i] {
				b[offset] = p.own[i]
			}
		}
	}
}

// write writes memory by packets of a length that the stub takes.
func (t *Target) write(id target.ThreadID, addr arch.Addr, p []byte) error {
	if err := t.choose(id); err != nil {
		return err
	}
	most := max(1, (t.c.PacketSize()-len("Mffffffffffffffff,ffff:")-4)/2)
	for len(p) > 0 {
		n := min(len(p), most)
		if err := command(&t.link, request.WriteMemory, request.Bytes(addr, p[:n])); err != nil {
			return err
		}
		addr, p = addr+arch.Addr(n), p[n:]
	}
	return nil
}

// ReadMemory implements target.Target.
func (t *Target) ReadMemory(id target.ThreadID, addr arch.Addr, p []byte) (n int, err error) {
	err = t.do(func() error {
		if err := t.present(id); err != nil {
			return err
		}
		n, err = t.read(id, addr, p)
		return err
	})
	return n, err
}

// WriteMemory implements target.Target. Where breakpoints lie in memory they are taken out for it.
func (t *Target) WriteMemory(id target.ThreadID, addr arch.Addr, p []byte) error {
	return t.do(func() error {
		if err := t.present(id); err != nil {
			return err
		}
		var lifted []*place
		addr := t.short(addr)
		for at, pl := range t.places {
			if pl.inserted && len(pl.own) > 0 && at < addr+arch.Addr(len(p)) && addr < at+arch.Addr(len(pl.own)) {
				if err := t.lift(pl); err != nil {
					return err
				}
				lifted = append(lifted, pl)
			}
		}
		err := t.write(id, addr, p)
		t.forget()
		for _, pl := range lifted {
			err = errors.Join(err, t.insert(pl))
		}
		return err
	})
}
