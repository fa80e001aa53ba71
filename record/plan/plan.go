package plan

import (
	"regexp"
	"slices"

	"tracewell/symbol/container"
	"tracewell/trace"
)

// Plan is what is to be traced.
type Plan struct {
	Tracepoints []Tracepoint // by ascending number
	Variables   []Variable   // in the order of their definition, without those that every target has
	Default     []Text       // expressions that every tracepoint collects besides its own: GDB's default-collect
	Always      []Text       // the same for frames of steps, too; no option or script of the user says so
	OfCalls     []Text       // what frames of entries and returns have besides
	Settings    Settings
}

// Tracepoint is one tracepoint, which may come to have several addresses.
type Tracepoint struct {
	Number    trace.Number
	Kind      Kind
	Location  Text // "queue.c:88", "-probe demo:item", "-m demo:item"
	Condition Text // empty without one
	Pass      uint64
	Actions   []Action
	Disabled  bool

	// Entry is the number of the tracepoint at the same location where the function is entered, for a tracepoint that is set where it
	// returns; 0 for others. Returns says of the former that there is such a tracepoint.
	Entry   trace.Number
	Returns bool

	// Repeats says that hits at one address may be counted that repeat an earlier one, in place of a frame for each: those for which
	// the expressions of Alike have the values that they had then.
	Repeats bool
	Alike   []Text
}

// Kind is the kind of a tracepoint, by the command that makes one.
type Kind string

// The kinds.
const (
	Ordinary Kind = "trace"
	Fast     Kind = "ftrace"
	Static   Kind = "strace"
)

// Action is one thing that is done at a hit, or after a step.
type Action struct {
	Kind        ActionKind
	Expressions []Text // of collect and teval
	String      bool   // collect/s: what is of a character type, or points to one, is collected as a string
	Limit       uint64 // of a string in bytes, 0 for none
	Stack       bool   // what --backtrace collects of the stack, in C's words

	Steps uint64   // instructions that while-stepping follows
	Body  []Action // of while-stepping, done after each
}

// CollectTexts has all that is collected be as by collect/s: with what points to characters comes the text, of at most limit bytes.
// Actions that say so themselves keep their own limit.
func (p *Plan) CollectTexts(limit uint64) {
	for i := range p.Tracepoints {
		collectTexts(p.Tracepoints[i].Actions, limit)
	}
}

func collectTexts(actions []Action, limit uint64) {
	for i := range actions {
		if a := &actions[i]; a.Kind == Collect && !a.String && !a.Stack {
			a.String, a.Limit = true, limit
		}
		collectTexts(actions[i].Body, limit)
	}
}

// ActionKind is the command that an action is.
type ActionKind string

// The kinds of actions.
const (
	Collect  ActionKind = "collect"
	Evaluate ActionKind = "teval"
	Step     ActionKind = "while-stepping"
)

// Variable is a trace state variable.
type Variable struct {
	Name    string // without the $
	Initial int64
}

// Settings are what holds for a run as a whole.
type Settings struct {
	Circular   bool
	BufferSize int64 // in bytes; 0 if nothing was said, and Unlimited
	Notes      string
	StopNotes  string // written as the reason of a stop
	User       string
	Contents   container.Limits // how much is collected of containers
}

// Unlimited is the size of a buffer that is to be as large as it can.
const Unlimited int64 = -1

// AllActions returns what a tracepoint does at a hit: it collects what all do, then follow its own actions. What is Always
// collected and its own actions collect as well is not there twice.
func (p *Plan) AllActions(t *Tracepoint) []Action {
	var all []Action
	common := slices.Concat(p.Default, p.missing(t.Actions))
	if t.isOfCalls() {
		common = append(common, p.OfCalls...)
	}
	if len(common) > 0 {
		all = append(all, Action{Kind: Collect, Expressions: common})
	}
	all = append(all, t.Actions...)
	for i, a := range all {
		if missing := p.missing(a.Body); a.Kind == Step && len(missing) > 0 {
			all[i].Body = append([]Action{{Kind: Collect, Expressions: missing}}, a.Body...)
		}
	}
	return all
}

// missing returns those of the expressions that are Always collected which actions do not collect anyway.
func (p *Plan) missing(actions []Action) []Text {
	return slices.DeleteFunc(slices.Clone(p.Always), func(e Text) bool {
		same := func(other Text) bool { return other.Value == e.Value }
		return slices.ContainsFunc(p.Default, same) || slices.ContainsFunc(actions, func(a Action) bool {
			return a.Kind == Collect && slices.ContainsFunc(a.Expressions, same)
		})
	})
}

// Mentions reports whether an expression of the plan has a name in it, such as $tid.
func (p *Plan) Mentions(name string) bool {
	word := regexp.MustCompile(regexp.QuoteMeta(name) + `\b`)
	var in func([]Action) bool
	has := func(e Text) bool { return word.MatchString(e.Value) }
	in = func(actions []Action) bool {
		return slices.ContainsFunc(actions, func(a Action) bool { return slices.ContainsFunc(a.Expressions, has) || in(a.Body) })
	}
	return slices.ContainsFunc(p.Default, has) || slices.ContainsFunc(p.Always, has) ||
		slices.ContainsFunc(p.Tracepoints, func(t Tracepoint) bool {
			return has(t.Condition) || in(t.Actions) || t.isOfCalls() && slices.ContainsFunc(p.OfCalls, has)
		})
}

// next is the number of the next tracepoint.
func (p *Plan) next() trace.Number {
	if len(p.Tracepoints) == 0 {
		return 1
	}
	return p.Tracepoints[len(p.Tracepoints)-1].Number + 1
}

// tooMany is the error about the definition of a tracepoint that frames could not name.
func tooMany(text Text) error {
	return text.fault("there are more than %d tracepoints", trace.MaxNumber)
}

// define sets the initial value of a variable, which may be there already.
func (p *Plan) define(v Variable) {
	if v.Name == trace.TimestampName {
		return
	}
	for i := range p.Variables {
		if p.Variables[i].Name == v.Name {
			p.Variables[i] = v
			return
		}
	}
	p.Variables = append(p.Variables, v)
}

// defined reports whether there is a variable of a name.
func (p *Plan) defined(name string) bool {
	for _, v := range p.Variables {
		if v.Name == name {
			return true
		}
	}
	return name == trace.TimestampName
}
