package client

import (
	"encoding/hex"
	"fmt"

	"tracewell/arch"
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
	"tracewell/trace"
)

// Memory is the call that reads n bytes of memory, or fewer from the same address if the rest cannot be read.
func Memory(at arch.Addr, n int) Call[[]byte] {
	q := Ask(request.ReadMemory, request.Extent{Addr: at, Length: uint64(n)}, reply.Bytes)
	parse := q.read
	q.read = func(text string) ([]byte, error) {
		b, err := parse(text)
		if err == nil && len(b) > n {
			err = &ReplyError{q.name, text, fmt.Sprintf("up to %d bytes in hexadecimal", n)}
		}
		return b, err
	}
	return q
}

// Decode sends a packet that is answered by bytes in hexadecimal, and decodes them into dst as far as they fit there, for callers
// who do so thousands of times a second: it allocates nothing. n is the number of bytes in the reply. Its errors are those of Ask;
// digits that are none, as of registers that are not available, are a *ReplyError.
func (c *Client) Decode(packet, dst []byte) (n int, err error) {
	if err := c.send(packet); err != nil {
		return 0, err
	}
	b, err := c.receiveBytes(packet)
	if err != nil {
		return 0, err
	}
	if len(b) < 4 { // else it can be no error, but for the one in words, whose dot is no digit
		if err := judge(nameOf(packet), string(b)); err != nil {
			return 0, err
		}
	}
	if n = len(b) / 2; len(b)%2 == 0 {
		if _, err := hex.Decode(dst, b[:2*min(n, len(dst))]); err == nil {
			return n, nil
		}
	}
	text := string(b)
	if err := judge(nameOf(packet), text); err != nil {
		return 0, err
	}
	return 0, &ReplyError{nameOf(packet), text, reply.Bytes.Syntax}
}

// Confirm sends a packet that is answered by OK. Like Decode it allocates nothing. Its errors are those of OK's call.
func (c *Client) Confirm(packet []byte) error {
	if err := c.send(packet); err != nil {
		return err
	}
	b, err := c.receiveBytes(packet)
	if err != nil || string(b) == "OK" {
		return err
	}
	text := string(b)
	if err := judge(nameOf(packet), text); err != nil {
		return err
	}
	return &ReplyError{nameOf(packet), text, reply.OK.Syntax}
}

// mostItems is how many parts a list may have: a stub that sends more has lost its way.
const mostItems = 1 << 20

// items fetches a list that one packet begins and another goes on with, up to the reply l.
func (c *Client) items(first, more *request.Form[request.None], add func(text string) error) error {
	f := first
	for range mostItems {
		text, err := Query(c, f, request.None{})
		if err != nil || text == "l" {
			return err
		}
		if err := add(text); err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		f = more
	}
	return fmt.Errorf("%s: the stub's list has no end", first.Name())
}

// List fetches a list that one packet begins and another goes on with, such as that of threads.
func List[T any](c *Client, first, more *request.Form[request.None], form *reply.Form[[]T]) (all []T, err error) {
	err = c.items(first, more, func(text string) error {
		part, err := form.Parse(text)
		all = append(all, part...)
		return err
	})
	return all, err
}

// Pieces calls a function with each piece of the definitions of tracepoints.
func (c *Client) Pieces(add func(trace.Piece) error) error {
	return c.items(request.FirstPiece, request.MorePieces, func(text string) error {
		p, err := trace.ParsePiece(text)
		if err != nil {
			return err
		}
		return add(p)
	})
}

// atOnce is how many parts of memory are asked for in one batch. With those behind a reply that is short there is nothing to do.
const atOnce = 16

// ReadMemory reads n bytes of memory, all of them or none. What one packet cannot hold comes in several, see Batch. A stub may
// reply with fewer bytes than asked for, either because the rest cannot be read or because it never has more (OpenOCD): what is
// behind them is asked for again, by parts of that length.
func (c *Client) ReadMemory(at arch.Addr, n int) ([]byte, error) {
	b, piece := make([]byte, 0, n), c.packet/2
	for len(b) < n {
		batch := c.Batch()
		var parts []*Result[[]byte]
		for next := len(b); next < n && len(parts) < atOnce && (c.noAck || len(parts) == 0); next += piece {
			parts = append(parts, Add(batch, Memory(at+arch.Addr(next), min(n-next, piece))))
		}
		_ = batch.Run() // the parts have its error
		for _, part := range parts {
			if part.Err != nil {
				return nil, fmt.Errorf("reading memory at %v: %w", at, part.Err)
			}
			wanted := min(n-len(b), piece)
			if b = append(b, part.Value...); len(part.Value) < wanted {
				piece = len(part.Value)
				break // the parts behind do not follow
			}
		}
	}
	return b, nil
}

// WriteMemory writes bytes of memory by one packet.
func (c *Client) WriteMemory(at arch.Addr, b []byte) error {
	return Command(c, request.WriteMemory, request.Bytes(at, b))
}

// Transfer reads an object of qXfer as a whole. Longer ones than limit bytes are an error.
func (c *Client) Transfer(object, annex string, limit int) ([]byte, error) {
	f := request.Transfer(object)
	var b []byte
	for len(b) <= limit {
		asked := request.Part{Annex: annex, Offset: uint64(len(b)), Length: uint64(c.packet - 1)} // and the letter in front
		part, err := Do(c, Ask(f, asked, reply.Object))
		if err != nil {
			return nil, err
		}
		if b = append(b, part.Bytes...); !part.More && len(b) <= limit {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%s: the stub's object has more than %d bytes", f.Name(), limit)
}

// FileError is the failure of an operation on a file of the stub's machine.
type FileError struct {
	Packet string
	Code   int // an errno of File-I/O
}

// Error gives the packet's name and the number.
func (e *FileError) Error() string { return fmt.Sprintf("%s: error %d of File-I/O", e.Packet, e.Code) }

// File sends a request about files. It returns the number of the reply, and the bytes that come with it.
func File[A any](c *Client, f *request.Form[A], args A) (result int64, content []byte, err error) {
	r, err := Do(c, Ask(f, args, reply.File))
	if err == nil && r.Failed {
		err = &FileError{f.Name(), r.Errno}
	}
	return r.Number, r.Content, err
}

// TraceStatus asks for the state of the trace run. plain is the reply as it came.
func (c *Client) TraceStatus() (status trace.Status, plain string, err error) {
	q := Ask(request.TraceStatus, request.None{}, reply.Status)
	if plain, err = c.Exchange(q.packet); err == nil {
		status, err = q.result(plain)
	}
	return status, plain, err
}

// TraceBuffer reads up to n bytes of the trace buffer from an offset on; nothing is its end.
func (c *Client) TraceBuffer(offset int64, n int) ([]byte, error) {
	return Do(c, Ask(request.ReadBuffer, request.BufferPart{Offset: offset, Length: uint64(n)}, reply.Buffer))
}

// Define sends the definition of a tracepoint: the packets that Tracepoint.Packets lists and that a function wants. They go one by
// one: what follows a rejected definition would be added to another, and in a run the stub may ask for a copy of the instruction.
func (c *Client) Define(t *trace.Tracepoint, want func(packet string) bool) error {
	for _, packet := range t.Packets() {
		if !want(packet) {
			continue
		}
		if _, err := Do(c, newCall(nameOf([]byte(packet)), []byte(packet), reply.OK)); err != nil {
			return err
		}
	}
	return nil
}
