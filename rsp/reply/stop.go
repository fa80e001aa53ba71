package reply

import (
	"math"
	"slices"

	"tracewell/arch"
	"tracewell/rsp"
)

// Stop is a stop reply (GDB manual, Stop Reply Packets), which is also what the notification Stop holds.
type Stop struct {
	// Kind is the letter that begins it. T and S: a thread stopped. W: a process exited. X: a process was ended by a signal. w: a
	// thread exited. N: no thread is resumed.
	Kind   byte
	Number int // GDB's number of a signal; of W and w the exit status
	// Reason is the word of a T reply that says why, such as "swbreak", "watch" or "fork", and Detail what comes with it: for
	// watchpoints an address in hexadecimal. Both are empty for none.
	Reason, Detail string
	Description    string // of LLDB: what its user reads of the reason, in hexadecimal; empty for none
	Registers      []Register
	Thread         *rsp.Thread // that stopped, or of w exited; nil if it is not told
	Core           int         // the processor, -1 if it is not told
	PID            int         // of W and X: the process; 0 if it is not told
}

// Register is a register in a T reply. Hex is its bytes in the target's order, in hexadecimal, xx where they are not available.
type Register struct {
	Number arch.Reg
	Hex    string
}

// stopKinds are the letters that begin stop replies.
const stopKinds = "TSWXwN"

// Ended reports whether the reply says that a process has ended.
func (s *Stop) Ended() bool { return s.Kind == 'W' || s.Kind == 'X' }

// Stopped is the form of stop replies. It writes the items of a T in the order of gdbserver, and reads them in any; items that a
// Stop does not have a field for are passed over, as GDB does with those that it does not know.
var Stopped = &Form[Stop]{"a stop reply", func(f *rsp.Fields, s *Stop) { s.fields(f) }}

func (s *Stop) fields(f *rsp.Fields) {
	if f.Reading() {
		s.Core = -1
	}
	kind := s.Kind
	if s.Kind = 0; !slices.ContainsFunc([]byte(stopKinds), func(k byte) bool {
		found := f.Option(string(k), k == kind)
		if found {
			s.Kind = k
		}
		return found
	}) {
		f.Fail("a stop reply")
	}
	if s.Kind == 'N' || s.Kind == 0 {
		return
	}
	s.number(f)
	switch s.Kind {
	case 'T':
		s.items(f)
	case 'W', 'X':
		// Only between ends that have agreed on multiprocess.
		if f.Option(";process:", s.PID != 0) {
			rsp.Hex(f, &s.PID, math.MaxInt32)
		}
	case 'w':
		f.Literal(';')
		if f.Reading() {
			s.Thread = new(rsp.Thread)
		}
		f.Thread(s.Thread)
	}
}

// number is two digits in front of everything else. Exit statuses of more digits are read, too; behind the signal of a T the first
// item follows at once, and may begin with a digit.
func (s *Stop) number(f *rsp.Fields) {
	if s.Kind == 'T' {
		rsp.HexDigits(f, &s.Number, 2)
	} else {
		rsp.HexPadded(f, &s.Number, math.MaxInt32, 2)
	}
}

// items are what follows the signal of a T.
func (s *Stop) items(f *rsp.Fields) {
	if f.Reading() {
		for f.More(false) {
			s.item(f)
			if f.More(false) {
				f.Literal(';')
			}
		}
		return
	}
	write := func(name, value string) {
		for _, part := range []string{name, ":", value, ";"} {
			f.Option(part, true)
		}
	}
	// The order of gdbserver: reason, registers, thread, processor.
	if s.Reason != "" {
		write(s.Reason, s.Detail)
	}
	if s.Description != "" {
		write("description", s.Description)
	}
	for _, r := range s.Registers {
		write(string(rsp.AppendHexPadded(nil, uint64(r.Number), 2)), r.Hex)
	}
	if s.Thread != nil {
		write("thread", s.Thread.String())
	}
	if s.Core >= 0 {
		write("core", string(rsp.AppendHex(nil, uint64(s.Core))))
	}
}

// item reads one NAME:VALUE. A name of digits only is a register.
func (s *Stop) item(f *rsp.Fields) {
	var name, value string
	f.Until(':', &name)
	f.Literal(':')
	switch name {
	case "thread":
		s.Thread = new(rsp.Thread)
		f.Thread(s.Thread)
	case "description":
		f.Until(';', &s.Description)
	case "core":
		// A number of the operating system's, as in /proc/cpuinfo.
		rsp.Hex(f, &s.Core, math.MaxInt32)
	default:
		f.Until(';', &value)
		in := rsp.NewScanner(name)
		// Names such as "fade" would be registers; that is why no reason consists of hexadecimal digits only.
		number := in.HexUpTo(math.MaxInt32)
		switch {
		case in.End() == nil:
			s.Registers = append(s.Registers, Register{arch.Reg(number), value})
		case s.Reason == "":
			s.Reason, s.Detail = name, value
		}
	}
}
