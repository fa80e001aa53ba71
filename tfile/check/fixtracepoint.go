package check

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"tracewell/internal/text"
	"tracewell/tfile"
	"tracewell/trace"
)

// fixTracepoints makes tracepoints that GDB takes of what could be read.
func (x *fixer) fixTracepoints(r *reading) []trace.Tracepoint {
	// A tracepoint whose T piece is lost is only worth defining anew if frames belong to it: GDB then knows them as
	// its own.
	undefined := make(map[trace.Key]bool)
	for _, k := range r.upload.Undefined() {
		undefined[k] = true
	}
	frames := x.frameNumbers()
	var fixed []trace.Tracepoint
	for _, t := range r.upload.Tracepoints() {
		at := r.offsets[t.Key()]
		if undefined[t.Key()] {
			if t.Number > 0xffff || !frames[trace.Number(int16(t.Number))] {
				x.tell(at, "pieces of tracepoint %d at %v left out: there is no T piece, nor any frame", t.Number, t.Addr)
				continue
			}
			define(&t)
			x.tell(at, "tracepoint %d at %v defined anew: %s", t.Number, t.Addr, t.Pieces()[0])
		}
		if x.numbered(&t, at) {
			x.fixSources(&t, at)
			x.shorten(&t, at)
			fixed = append(fixed, t)
		}
	}
	// GDB 13.1 numbers tracepoints anew from the last to the first, so that only descending order keeps their numbers.
	if ascend(fixed) {
		x.tell(x.file.DefinitionsEnd(), "tracepoints put in descending order")
		slices.SortStableFunc(fixed, func(a, b trace.Tracepoint) int { return cmp.Compare(b.Number, a.Number) })
	}
	return fixed
}

// frameNumbers is the numbers that frames have.
func (x *fixer) frameNumbers() map[trace.Number]bool {
	numbers := make(map[trace.Number]bool)
	for i := range x.file.NumFrames() {
		numbers[x.file.Tracepoint(i)] = true
	}
	return numbers
}

// define does for the T piece of a tracepoint that has lost it.
func define(t *trace.Tracepoint) {
	// It had hits, so it was enabled; steps stand in the source of while-stepping, with a single one where that is
	// lost, too.
	t.Enabled = true
	for _, command := range t.Source.Commands {
		if stepping(command) {
			fields := strings.Fields(command)
			if n, err := strconv.ParseUint(fields[len(fields)-1], 0, 31); err == nil {
				t.Step = n
			}
		}
	}
	if t.Step == 0 && len(t.StepActions) > 0 {
		t.Step = 1
	}
}

// numbered gives a tracepoint a number that frames can have, if there is one.
func (x *fixer) numbered(t *trace.Tracepoint, at int64) bool {
	number, changed := x.defined[t.Number]
	switch {
	case t.Number < 1 || changed && number == 0:
		x.tell(at, "tracepoint %d left out: frames cannot have the number", t.Number)
		return false
	case changed:
		x.tell(at, "tracepoint %d is now %d", t.Number, number)
		t.Number = number
	}
	return true
}

// fixSources makes what the user typed such that GDB takes it.
func (x *fixer) fixSources(t *trace.Tracepoint, at int64) {
	// Frames do not show how a tracepoint was hit, so that nothing of what was collected is lost.
	if t.Fast || t.Static {
		x.tell(at, "tracepoint %d is an ordinary one: GDB opens no file with a fast or static one unless it finds the code", t.Number)
		t.Fast, t.FastLength, t.Static = false, 0, false
		if strings.HasPrefix(t.Source.At, "-m") {
			t.Source.At = ""
		}
	}
	for i, command := range t.Source.Commands {
		if collectsStrings(command) {
			_, what, _ := strings.Cut(command, " ")
			t.Source.Commands[i] = "collect " + what
			x.tell(at, "action %q of tracepoint %d without its option", command, t.Number)
		}
	}
	// A piece is one line, which no reader can continue: what is too long is left out rather than cut, as half an
	// expression would be another one.
	if tooLong("Z" + sourceText(t, trace.SourceAt, t.Source.At)) {
		x.tell(at, "location %s of tracepoint %d left out: too long for a line", text.Quote(t.Source.At), t.Number)
		t.Source.At = ""
	}
	if t.Source.At == "" {
		t.Source.At = "*" + t.Addr.String()
		x.tell(at, "the location of tracepoint %d is its address", t.Number)
	}
}

func tooLong(piece string) bool { return len("tp ")+len(piece) > tfile.MaxLine }

func sourceText(t *trace.Tracepoint, kind trace.SourceType, text string) string {
	return trace.SourcePiece{Key: t.Key(), Type: kind, Total: len(text), Text: text}.String()
}

// shorten leaves out what makes too long a line.
func (x *fixer) shorten(t *trace.Tracepoint, at int64) {
	if tooLong("Z" + sourceText(t, trace.SourceCond, t.Source.Cond)) {
		x.tell(at, "source of the condition of tracepoint %d left out: too long for a line", t.Number)
		t.Source.Cond = ""
	}
	t.Source.Commands = slices.DeleteFunc(t.Source.Commands, func(command string) bool {
		long := tooLong("Z" + sourceText(t, trace.SourceCommand, command))
		if long {
			x.tell(at, "action %s of tracepoint %d left out: too long for a line", text.Quote(command), t.Number)
		}
		return long
	})
	// The T piece has the bytecode of the condition. Frames are there already; GDB evaluates no condition on a file.
	if tooLong(t.Pieces()[0]) {
		x.tell(at, "condition of tracepoint %d left out: too long for a line", t.Number)
		t.Condition = nil
	}
	t.Actions, t.StepActions = x.shortActions(t, at, t.Actions), x.shortActions(t, at, t.StepActions)
}

// shortActions leaves out actions that make too long a line.
func (x *fixer) shortActions(t *trace.Tracepoint, at int64, actions []trace.Action) []trace.Action {
	return slices.DeleteFunc(actions, func(a trace.Action) bool {
		one := trace.Tracepoint{Number: t.Number, Addr: t.Addr, Actions: []trace.Action{a}}
		long := tooLong(one.Pieces()[1])
		if long {
			x.tell(at, "an action of tracepoint %d left out: %s: too long for a line", t.Number, text.Quote(a.String()))
		}
		return long
	})
}
