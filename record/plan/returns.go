package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tracewell/internal/text"
	"tracewell/trace"
)

// What the tracepoints of a function's entry and of its returns collect besides what the user asked for: the frames of one call
// have the same activation, and in Go the same goroutine.
const (
	activation = "$" + trace.ActivationName
	goroutine  = "$" + trace.GoroutineName
	result     = "$" + trace.ReturnName
	call       = "$" + trace.CallName
)

// returns begins tracepoints where the functions of the tracepoints in front return, which the options that follow are for. With a
// location of its own it begins one there as well, which collects the arguments.
func (l *itemList) returns(value Text) error {
	if value.Value != "" {
		l.joined = false
		if err := l.at(value); err != nil {
			return err
		}
		if err := l.group[0].do(collection(whole(value.Origin, "$args"))); err != nil {
			return err
		}
	}
	var group []*Tracepoint
	for _, entry := range l.group {
		switch {
		case entry == &l.common:
			return value.fault("the returns of which function? Give it as --return=FUNCTION, or by --at in front of this")
		case entry.Entry != 0 || entry.Returns:
			return value.fault("there is a --return already")
		}
		entry.Returns = true
		t := &Tracepoint{Kind: Ordinary, Location: entry.Location, Entry: entry.Number}
		if err := l.append(t, value); err != nil {
			return err
		}
		group = append(group, t)
	}
	l.group, l.joined = group, false
	return nil
}

// atCalls reports whether a tracepoint is at system calls.
func (t *Tracepoint) atCalls() bool { return strings.HasPrefix(t.Location.Value, "syscall:") }

// placeWords begin the comment by which a trace file says what the user gave as the location.
const placeWords = comment + "location "

// PlaceComment is that comment, which is one of the tracepoint's commands. GDB has no words for system calls, and ends with an
// internal error where the location in a trace file is a probe.
func (t *Tracepoint) PlaceComment() string { return placeWords + t.Location.Value }

// ParsePlace finds the location in the commands of a tracepoint; false if it is that of its source.
func ParsePlace(commands []string) (location string, ok bool) {
	for _, command := range commands {
		if location, ok = strings.CutPrefix(command, placeWords); ok {
			return location, true
		}
	}
	return "", false
}

// absentWord begins the comment by which a trace file says why frames of a location lack something.
const absentWord = comment + "without "

// AbsentComment is that comment, which is one of the tracepoint's commands: of a name that users look for, and the reason.
func AbsentComment(name, why string) string { return absentWord + name + ": " + text.Visible(why) }

// ParseAbsent finds the reason in a command of a tracepoint; false if it is none.
func ParseAbsent(command string) (name, why string, ok bool) {
	rest, found := strings.CutPrefix(command, absentWord)
	name, why, whole := strings.Cut(rest, ": ")
	return name, why, found && whole
}

// Implied is what a tracepoint of an entry or of returns collects beside its actions, where it can be had: what the frames of a
// call are paired by comes first.
func (t *Tracepoint) Implied() []Text {
	var all []Text
	if t.isOfCalls() {
		all = append(all, whole("--return", activation), whole("--return", goroutine))
	}
	if t.Entry != 0 {
		all = append(all, whole("--return", result))
	}
	if t.atCalls() {
		all = append(all, whole("--at", call))
		if t.Entry != 0 { // what the call has filled
			all = append(all, whole("--return", "$args"))
		}
	}
	return all
}

// AllReturn are the tracepoints of returns without a condition whose entries have one. Whether that was true is not known at a
// return: the arguments have other values by then.
func (p *Plan) AllReturn() (all []*Tracepoint) {
	for i := range p.Tracepoints {
		t := &p.Tracepoints[i]
		isEntry := func(e Tracepoint) bool { return e.Number == t.Entry && e.Condition.Value != "" }
		if t.Condition.Value == "" && slices.ContainsFunc(p.Tracepoints, isEntry) {
			all = append(all, t)
		}
	}
	return all
}

// isOfCalls reports whether a tracepoint is one of an entry or of returns.
func (t *Tracepoint) isOfCalls() bool { return t.Entry != 0 || t.Returns }

// returnsWords begin the comment by which a trace file says of a tracepoint that it is set where a function returns.
const returnsWords = comment + "returns of tracepoint "

// ReturnsComment is that comment, which is one of the tracepoint's commands. GDB has no words for such a location.
func (t *Tracepoint) ReturnsComment() string {
	return fmt.Sprintf("%s%d at %s", returnsWords, t.Entry, t.Location.Value)
}

// ParseReturns finds the tracepoint at the entry, and the location, in the commands of a tracepoint; false if it is none of a
// return.
func ParseReturns(commands []string) (entry trace.Number, location string, ok bool) {
	for _, command := range commands {
		rest, found := strings.CutPrefix(command, returnsWords)
		number, location, whole := strings.Cut(rest, " at ")
		n, err := strconv.ParseUint(number, 10, 31)
		if found && whole && err == nil {
			return trace.Number(n), location, true
		}
	}
	return 0, "", false
}
