package remote

import (
	"tracewell/target"
	"tracewell/target/ended"
)

// lastState is how the program stood when it was last told of, in case that it goes, or the connection.
type lastState struct {
	thread    target.ThreadID
	registers []byte
}

// remember keeps what is known of the thread that stopped last.
func (t *Target) remember() {
	t.last = lastState{t.current, append(t.last.registers[:0], t.state.block...)}
}

// Ended returns what is left of a program that has ended by itself or whose connection is lost, nil for any other. It is for the
// frames of a trace run, which GDB shows only of a program, and may be called after Close.
func (t *Target) Ended() (left *ended.Target) {
	t.look(func() {
		if t.end != (target.Event{}) {
			left = ended.New(ended.Program{
				ISA: t.isa, Description: t.description, Thread: target.Thread{ID: t.last.thread, Core: -1},
				Registers: t.last.registers, End: t.end,
			})
		}
	})
	return left
}
