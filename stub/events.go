package stub

import (
	"errors"
	"math"

	"tracewell/rsp"
)

// errLeftAlone refuses to catch what would be reported to nobody, and would stop the program each time.
var errLeftAlone = errors.New("the program was left to its trace run: interrupt it first")

// threadEvents is QThreadEvents.
func (x *session) threadEvents(args string) ([]byte, error) {
	on, err := parseFlag(args)
	if err != nil {
		return nil, err
	}
	x.births = on
	x.takeCharge()
	return replyOK, nil
}

// stopAsked is vCtrlC, the form of Ctrl-C that non-stop mode has.
func (x *session) stopAsked(string) ([]byte, error) {
	x.controlC()
	return replyOK, nil
}

// catchSyscalls is QCatchSyscalls, for the process of the selected thread.
func (x *session) catchSyscalls(args string) ([]byte, error) {
	in := rsp.NewScanner(args)
	on := in.Accept('1')
	if !on && !in.Accept('0') {
		in.Fail("0 or 1")
	}
	var numbers []int
	for on && !in.Done() {
		in.Literal(';')
		numbers = append(numbers, int(in.HexUpTo(math.MaxInt32)))
	}
	if err := in.End(); err != nil {
		return nil, err
	}
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	if x.leftAlone() {
		return nil, errLeftAlone
	}
	return replyOK, x.target.Syscalls().CatchSyscalls(id.PID, on, numbers)
}
