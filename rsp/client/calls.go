package client

import (
	"fmt"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/rsp"
	"tracewell/rsp/request"
	"tracewell/trace"
)

// Memory is the call that reads n bytes of memory, or fewer from the same address if the rest cannot be read.
func Memory(at arch.Addr, n int) Call[[]byte] {
	return NewCall(request.ReadMemory, request.Extent{Addr: at, Length: uint64(n)}, func(text string) ([]byte, error) {
		b, err := rsp.ParseHexBytes(text)
		if err != nil || len(b) == 0 || len(b) > n {
			return nil, &ReplyError{request.ReadMemory.Name(), text, fmt.Sprintf("up to %d bytes in hexadecimal", n)}
		}
		return b, nil
	})
}

// Registers is the call that reads the block of all registers of the selected thread. Bytes that are not available are 0, and
// their place in the second value is false; that is nil if all are available.
func Registers() Call[Block] {
	return NewCall(request.ReadRegisters, request.None{}, func(text string) (Block, error) {
		return parseBlock(request.ReadRegisters.Name(), text)
	})
}

// Register is the call that reads one register of the selected thread.
func Register(n arch.Reg) Call[Block] {
	return NewCall(request.ReadRegister, n, func(text string) (Block, error) { return parseBlock(request.ReadRegister.Name(), text) })
}

// Block is bytes of registers in the target's order, and which of them are available: nil for all. The others are 0.
type Block struct {
	Bytes     []byte
	Available []bool
}

func parseBlock(name, text string) (b Block, err error) {
	known := strings.ReplaceAll(text, "xx", "00")
	if b.Bytes, err = rsp.ParseHexBytes(known); err != nil {
		return Block{}, &ReplyError{name, text, "registers in hexadecimal"}
	}
	if strings.Contains(text, "xx") {
		b.Available = make([]bool, len(b.Bytes))
		for i := range b.Available {
			b.Available[i] = text[2*i] != 'x'
		}
	}
	return b, nil
}

// Select chooses the thread that later calls read and write.
func (c *Client) Select(t rsp.Thread) error {
	return Command(c, request.SelectThread, request.Selection{For: 'g', Thread: t})
}

// Current is the selected thread.
func (c *Client) Current() (t rsp.Thread, err error) {
	text, err := Query(c, request.CurrentThread, request.None{})
	if err != nil {
		return t, err
	}
	id, ok := strings.CutPrefix(text, "QC")
	f := rsp.ReadFields(id)
	if f.Thread(&t); !ok || f.End() != nil {
		return t, &ReplyError{request.CurrentThread.Name(), text, "QC and a thread"}
	}
	return t, nil
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

// Threads lists the threads of all processes.
func (c *Client) Threads() (list []rsp.Thread, err error) {
	err = c.items(request.FirstThreads, request.MoreThreads, func(text string) error {
		ids, ok := strings.CutPrefix(text, "m")
		f := rsp.ReadFields(ids)
		if rsp.Some(f, &list, ',', (*rsp.Fields).Thread); !ok || f.End() != nil {
			return &ReplyError{request.FirstThreads.Name(), text, "m and threads"}
		}
		return nil
	})
	return list, err
}

// Variables lists the trace state variables, the last defined first.
func (c *Client) Variables() (list []trace.Variable, err error) {
	err = c.items(request.FirstVariable, request.MoreVariables, func(text string) error {
		v, err := trace.ParseVariable(text)
		list = append(list, v)
		return err
	})
	return list, err
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

// ReadMemory reads n bytes of memory, all of them or none. What one packet cannot hold comes in several, see Batch.
func (c *Client) ReadMemory(at arch.Addr, n int) ([]byte, error) {
	b := make([]byte, 0, n)
	for len(b) < n {
		batch := c.Batch()
		var parts []*Result[[]byte]
		for next := len(b); next < n && len(parts) < max(c.Depth, 1); {
			size := min(n-next, c.packet/2)
			parts = append(parts, Add(batch, Memory(at+arch.Addr(next), size)))
			next += size
		}
		_ = batch.Run() // the parts have its error
		for _, part := range parts {
			if part.Err != nil {
				return nil, fmt.Errorf("reading memory at %v: %w", at, part.Err)
			}
			whole := min(n-len(b), c.packet/2)
			if b = append(b, part.Value...); len(part.Value) < whole {
				break // a stub may reply with fewer bytes than asked for: the parts behind do not follow
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
	for len(b) < limit {
		text, err := Query(c, f, request.Part{Annex: annex, Offset: uint64(len(b)), Length: uint64(c.packet - 1)})
		if err != nil {
			return nil, err
		}
		b = append(b, text[1:]...)
		switch {
		case text[0] == 'l':
			return b, nil
		case text[0] != 'm' || len(text) == 1:
			return nil, &ReplyError{f.Name(), text, "m or l and bytes"}
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
func File[A any](c *Client, f *request.Form[A], args A) (result int64, content string, err error) {
	text, err := Query(c, f, args)
	if err != nil {
		return 0, "", err
	}
	head, content, _ := strings.Cut(text, ";")
	number, code, failed := strings.Cut(strings.TrimPrefix(head, "F"), ",")
	result, err = strconv.ParseInt(number, 16, 64)
	if text[0] != 'F' || err != nil {
		return 0, "", &ReplyError{f.Name(), text, "F and a number"}
	}
	if failed || result < 0 {
		errno, _ := strconv.ParseUint(code, 16, 31)
		return 0, "", &FileError{f.Name(), int(errno)}
	}
	return result, content, nil
}

// TraceStatus asks for the state of the trace run. plain is the reply as it came.
func (c *Client) TraceStatus() (status trace.Status, plain string, err error) {
	plain, err = Query(c, request.TraceStatus, request.None{})
	if err != nil {
		return status, plain, err
	}
	rest, ok := strings.CutPrefix(plain, "T")
	if !ok || rest == "" {
		return status, plain, &ReplyError{request.TraceStatus.Name(), plain, "T and the status"}
	}
	status, err = trace.ParseStatus(rest)
	return status, plain, err
}

// TraceBuffer reads up to n bytes of the trace buffer from an offset on; nothing is its end.
func (c *Client) TraceBuffer(offset int64, n int) ([]byte, error) {
	text, err := Query(c, request.ReadBuffer, request.BufferPart{Offset: offset, Length: uint64(n)})
	if err != nil || text == "l" {
		return nil, err
	}
	b, err := rsp.ParseHexBytes(text)
	if err != nil || len(b) == 0 {
		return nil, &ReplyError{request.ReadBuffer.Name(), text, "bytes in hexadecimal"}
	}
	return b, nil
}

// Define sends the definition of a tracepoint: the packets that Tracepoint.Packets lists and that a function wants.
func (c *Client) Define(t *trace.Tracepoint, want func(packet string) bool) error {
	for _, packet := range t.Packets() {
		if !want(packet) {
			continue
		}
		text, err := c.Exchange([]byte(packet))
		if err != nil {
			return err
		}
		name := nameOf([]byte(packet))
		if err := judge(name, text); err != nil {
			return err
		}
		if text != "OK" {
			return &ReplyError{name, text, "OK"}
		}
	}
	return nil
}
