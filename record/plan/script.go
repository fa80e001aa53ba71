package plan

import (
	"fmt"
	"strconv"
	"strings"

	"tracewell/trace"
)

// AddScript adds what a script for GDB defines. The name of its file is for messages. Errors that are about a part of a line
// are of type *expr.Error.
func (p *Plan) AddScript(name, text string) error {
	s := &script{plan: p, name: name, rest: text, more: true, base: p.next() - 1}
	s.number = s.base
	for {
		line, ok, err := s.next()
		if err != nil || !ok {
			return err
		}
		if err := s.command(line); err != nil {
			return err
		}
	}
}

// script is a script that is being read.
type script struct {
	plan   *Plan
	name   string
	rest   string       // lines that have not been read
	more   bool         // there are some
	at     int          // number of the line that was read last
	base   trace.Number // of the last tracepoint that there was before
	number trace.Number // of the last that was defined, which may have been deleted
}

// next returns the next line that is neither empty nor a comment, without the blanks around it, false at the end.
func (s *script) next() (Text, bool, error) {
	for s.more {
		first := s.at + 1
		line := s.physical()
		for strings.HasSuffix(line, `\`) && s.more {
			line = strings.TrimSuffix(line, `\`) + s.physical()
		}
		t := whole(fmt.Sprintf("%s:%d", s.name, first), line)
		if at := strings.IndexByte(line, 0); at >= 0 {
			return t, false, t.Fault(at, at+1, "this is no text", "")
		}
		t = t.part(0, len(line))
		if strings.HasSuffix(t.Value, `\`) {
			return t, false, t.Fault(len(t.Value)-1, len(t.Value), "nothing follows that this could join", "")
		}
		if t.Value != "" && t.Value[0] != '#' {
			return t, true, nil
		}
	}
	return Text{}, false, nil
}

// physical takes the next line as the file has it.
func (s *script) physical() string {
	line, rest, more := strings.Cut(s.rest, "\n")
	s.rest, s.more = rest, more
	s.at++
	return strings.TrimSuffix(line, "\r")
}

// command does what a line says.
func (s *script) command(line Text) error {
	word, argument := verb(line)
	c, err := lookUp(word, commands)
	if err != nil {
		return err
	}
	return c.run(s, word, argument)
}

// verb splits a line behind the name of its command, as GDB does: "collect/s x" has one, and so has "tp*main".
func verb(line Text) (word, argument Text) {
	end := strings.IndexFunc(line.Value, func(r rune) bool {
		return !(r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
	if end < 0 {
		end = len(line.Value)
	}
	return line.part(0, end), line.part(end, len(line.Value))
}

// actions reads the lines of a list up to its end. One within a list is the body of a while-stepping.
func (s *script) actions(opened Text, within bool) ([]Action, error) {
	var found []Action
	for {
		line, ok, err := s.next()
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, opened.fault("the list that begins here has no end")
		}
		word, argument := verb(line)
		c, err := lookUp(word, actionCommands)
		if err != nil {
			return nil, err
		}
		if c.name == "end" {
			return found, nothing(argument)
		}
		a, err := s.action(c.name, word, argument, within)
		if err != nil {
			return nil, err
		}
		found = append(found, a)
	}
}

// action reads one action, with its body if it has one.
func (s *script) action(name string, word, argument Text, within bool) (Action, error) {
	switch name {
	case string(Collect):
		return collection(argument)
	case string(Evaluate):
		a, err := evaluation(argument)
		if err == nil {
			err = s.checkAssigned(a)
		}
		return a, err
	}
	if within {
		return Action{}, word.fault("while-stepping can't stand within while-stepping")
	}
	n, err := steps(argument)
	if err != nil {
		return Action{}, err
	}
	body, err := s.actions(word, true)
	return Action{Kind: Step, Steps: n, Body: body}, err
}

// checkAssigned refuses to set a variable that is not defined, as GDB does.
func (s *script) checkAssigned(a Action) error {
	for _, e := range a.Expressions {
		if name, ok := assigned(e); ok && !s.plan.defined(name) {
			return e.Fault(0, len(name)+1, fmt.Sprintf("$%s is no trace state variable", name), "define it before by tvariable $"+name)
		}
	}
	return nil
}

// nothing refuses what stands behind a command that takes no more.
func nothing(rest Text) error {
	if rest.Value != "" {
		return rest.fault("this is too much")
	}
	return nil
}

// numbers reads numbers of tracepoints and ranges of them; none are all.
func (s *script) numbers(list Text) ([]*Tracepoint, error) {
	if list.Value == "" {
		var all []*Tracepoint
		for i := range s.plan.Tracepoints {
			if t := &s.plan.Tracepoints[i]; t.Number > s.base {
				all = append(all, t)
			}
		}
		return all, nil
	}
	var found []*Tracepoint
	for list.Value != "" {
		var word Text
		word, list = list.cut()
		from, to, isRange := strings.Cut(word.Value, "-")
		first, err := s.one(word.part(0, len(from)))
		if err != nil {
			return nil, err
		}
		last := first
		if isRange {
			if last, err = s.one(word.part(len(from)+1, len(from)+1+len(to))); err != nil {
				return nil, err
			}
		}
		if last.Number < first.Number {
			return nil, word.fault("this range ends before it begins")
		}
		for i := range s.plan.Tracepoints {
			if t := &s.plan.Tracepoints[i]; first.Number <= t.Number && t.Number <= last.Number {
				found = append(found, t)
			}
		}
	}
	return found, nil
}

// one finds a tracepoint by its number in the script. Without one it is the last.
func (s *script) one(word Text) (*Tracepoint, error) {
	number := s.number
	switch word.Value {
	case "", "$bpnum", "$tpnum":
	default:
		n, err := strconv.ParseUint(word.Value, 10, 15)
		if err != nil || n == 0 {
			return nil, word.fault("this is no number of a tracepoint")
		}
		number = s.base + trace.Number(n)
	}
	for i := range s.plan.Tracepoints {
		if t := &s.plan.Tracepoints[i]; t.Number == number && t.Number > s.base {
			return t, nil
		}
	}
	if s.number == s.base {
		return nil, word.fault("this script has defined no tracepoint yet")
	}
	return nil, word.fault("there is no tracepoint %d", number-s.base)
}
