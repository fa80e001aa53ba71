package execution

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"

	"tracewell/itrace/index"
	"tracewell/itrace/query"
	"tracewell/view/wire"
	"tracewell/web/arguments"
)

// blockRows is how many instructions a block has.
const blockRows = 64

// at is the position of the cursor.
func at(t *query.Trace, args url.Values) (int64, error) {
	n, err := arguments.Int64(args, "at")
	if err == nil && (n < 0 || n > t.Instructions) {
		err = fmt.Errorf("there is no instruction %d: the last is %d", n, t.Instructions-1)
	}
	return n, err
}

// moments is a block of instructions.
func (s *Subject) moments(ctx context.Context, t *query.Trace, args url.Values) (any, error) {
	block, err := arguments.Int64(args, "block")
	if err != nil {
		return nil, err
	}
	answer := wire.MomentBlock{Total: t.Instructions, Rows: []wire.Moment{}}
	first := block * blockRows
	if block < 0 || block > t.Instructions/blockRows || first >= t.Instructions {
		return answer, nil
	}
	err = t.Around(ctx, first, 0, blockRows-1, func(m query.Moment) error {
		answer.Rows = append(answer.Rows, s.described(t, m))
		return nil
	})
	return answer, err
}

// described is an instruction as the page has it. Where the trace has no disassembly, that of the opcode stands in its place.
func (s *Subject) described(t *query.Trace, m query.Moment) wire.Moment {
	d := wire.DescribeMoment(t, m)
	if d.Disassembly == "" {
		d.Disassembly = s.disassembly(m.Item)
	}
	return d
}

// cursor is all that is known at a position.
func (s *Subject) cursor(ctx context.Context, t *query.Trace, args url.Values) (any, error) {
	position, err := at(t, args)
	if err != nil {
		return nil, err
	}
	step := query.Step{Number: position}
	of, err := t.Step(min(position, t.Instructions-1))
	if err != nil {
		return nil, err
	}
	cpu := of.Item.CPU
	if position < t.Instructions {
		step = of
	}
	t.CPU = &cpu
	held, err := t.RegistersAt(ctx, position)
	t.CPU = nil
	if err != nil {
		return nil, err
	}
	answer := wire.CursorState{RegistersAt: wire.DescribeRegisters(t, step, held), CPU: cpu, Calls: []wire.ActiveCall{}}
	if step.Item != nil && answer.Disassembly == "" {
		answer.Disassembly = s.disassembly(step.Item)
	}
	if s.code != nil && step.Item != nil {
		if path, line, ok := s.code.Line(step.Item.Addr); ok {
			answer.Source = s.place(path, line)
		}
	}
	if w := s.read(); w != nil {
		answer.Calls = w.active(cpu, position)
	}
	return answer, nil
}

// place offers a source file to the page; nil if there is none. Its path is that of debuginfo, by which coverage has it as well:
// the same file under two names would be two.
func (s *Subject) place(file string, line int) *wire.SourcePlace {
	if s.Sources == nil || file == "" {
		return nil
	}
	return &wire.SourcePlace{File: s.Sources.Offer(file), Line: line}
}

// mostBytes is how much memory is shown at once.
const mostBytes = 4096

// memory is what memory held at a position.
func (s *Subject) memory(_ context.Context, t *query.Trace, args url.Values) (any, error) {
	position, err := at(t, args)
	if err != nil {
		return nil, err
	}
	o, err := t.Object("&" + args.Get("range"))
	if err != nil {
		return nil, err
	}
	if o.Size > mostBytes {
		return nil, fmt.Errorf("%d bytes are too many: at most %d", o.Size, mostBytes)
	}
	image, err := t.MemoryAt(position, o.Addr, o.Size, args.Get("backfill") != "")
	if err != nil {
		return nil, err
	}
	return wire.DescribeMemory(t, query.Step{Number: position}, image), nil
}

// position finds what a user types: a number, a line, a time, or a place in code, which is looked for behind the cursor, or with
// back in front of it, and then from the other end.
func (s *Subject) position(ctx context.Context, t *query.Trace, args url.Values) (any, error) {
	cursor, err := at(t, args)
	if err != nil {
		return nil, err
	}
	text := args.Get("text")
	if _, err := strconv.ParseUint(text, 10, 63); err != nil && args.Get("back") != "" {
		if found, err := s.executedBefore(ctx, t, text, cursor); found != nil || err != nil {
			return found, err
		}
	}
	n, err := t.Position(ctx, text, min(cursor+1, t.Instructions))
	if err == nil {
		return wire.PositionFound{Instruction: max(n, 0)}, nil
	}
	first, wrong := t.Position(ctx, text, 0)
	if wrong != nil {
		return nil, err
	}
	return wire.PositionFound{Instruction: max(first, 0), Note: "from the beginning: it is not executed behind the cursor"}, nil
}

// executedBefore is the last execution of a place in front of the cursor, or else the last of all; nil if the text is no place.
func (s *Subject) executedBefore(ctx context.Context, t *query.Trace, text string, cursor int64) (*wire.PositionFound, error) {
	code, err := t.Code(text)
	if err != nil {
		return nil, nil
	}
	var found *wire.PositionFound
	last := func(to int64, note string) error {
		t.To = to
		defer func() { t.To = t.Instructions }()
		return t.Executed(ctx, code, query.Pick{Last: 1}, func(step query.Step) error {
			found = &wire.PositionFound{Instruction: step.Number, Note: note}
			return nil
		})
	}
	if err := last(cursor, ""); err != nil || found != nil {
		return found, err
	}
	if err := last(t.Instructions, "from the end: it is not executed in front of the cursor"); err != nil || found != nil {
		return found, err
	}
	return nil, fmt.Errorf("%s is not executed", text)
}

// mostAround is how many answers are given in front of the cursor, and behind it.
const mostAround = 20

// around has ask asked about what is in front of a position, the last first, and about what is at it or behind it.
func around(t *query.Trace, position int64, ask func(query.Pick) error) error {
	defer func() { t.From, t.To = index.Ahead, t.Instructions }()
	t.To = position
	if err := ask(query.Pick{Last: mostAround}); err != nil {
		return err
	}
	t.From, t.To = position, t.Instructions
	return ask(query.Pick{First: mostAround})
}

// accesses are who wrote something, or with kind=readers who read it.
func (s *Subject) accesses(ctx context.Context, t *query.Trace, args url.Values) (any, error) {
	position, err := at(t, args)
	if err != nil {
		return nil, err
	}
	o, err := t.Object(args.Get("object"))
	if err != nil {
		return nil, err
	}
	ask, what := t.Writers, [2]index.What{index.RegisterSet, index.Write}
	if args.Get("kind") == "readers" {
		ask, what = t.Readers, [2]index.What{index.RegisterGet, index.Read}
	}
	// The register is that of the processor at the cursor; memory is shared.
	if o.IsRegister() && args.Get("cpu") != "" {
		cpu, err := arguments.Int64(args, "cpu")
		if err != nil {
			return nil, err
		}
		if err := t.OnCPU(int32(cpu)); err != nil {
			return nil, err
		}
		defer func() { t.CPU = nil }()
	}
	answer := wire.AccessesAround{Object: o.Text, Before: []wire.Access{}, After: []wire.Access{}, Gaps: []string{}}
	of := what[1]
	if o.IsRegister() {
		of = what[0]
	}
	answer.Gaps = append(answer.Gaps, t.Gaps(of)...)
	to := &answer.Before
	err = around(t, position, func(p query.Pick) error {
		if p.First > 0 {
			to = &answer.After
		}
		return ask(ctx, o, p, func(a query.Access) error {
			d := wire.DescribeAccess(t, a)
			if d.Disassembly == "" && a.Step.Item != nil {
				d.Disassembly = s.disassembly(a.Step.Item)
			}
			*to = append(*to, d)
			return nil
		})
	})
	return answer, err
}

// executions are when a place in code was executed.
func (s *Subject) executions(ctx context.Context, t *query.Trace, args url.Values) (any, error) {
	position, err := at(t, args)
	if err != nil {
		return nil, err
	}
	code, err := t.Code(args.Get("place"))
	if err != nil {
		return nil, err
	}
	answer := wire.ExecutionsAround{Place: code.Text, Before: []wire.Step{}, After: []wire.Step{}}
	to := &answer.Before
	err = around(t, position, func(p query.Pick) error {
		if p.First > 0 {
			to = &answer.After
		}
		return t.Executed(ctx, code, p, func(step query.Step) error {
			*to = append(*to, wire.DescribeStep(t, step))
			return nil
		})
	})
	return answer, err
}

// move is where a step leads.
func (s *Subject) move(ctx context.Context, t *query.Trace, args url.Values) (any, error) {
	position, err := at(t, args)
	if err != nil {
		return nil, err
	}
	of, err := t.Instruction(min(position, t.Instructions-1))
	if err != nil {
		return nil, err
	}
	m := mover{ctx: ctx, t: t, w: s.read(), cpu: of.CPU, from: position}
	move := moves[args.Get("by")]
	if move == nil {
		return nil, fmt.Errorf("by: %q is none of %v", args.Get("by"), slices.Sorted(maps.Keys(moves)))
	}
	return move(&m)
}

// mover finds where steps lead. They are those of the processor that executes the instruction at the cursor, as those of a debugger
// are of a thread.
type mover struct {
	ctx  context.Context
	t    *query.Trace
	w    *whole // nil for single steps
	cpu  int32
	from int64
}

// moves are the steps by their names.
var moves = map[string]func(*mover) (wire.PositionFound, error){
	"step": (*mover).step, "step-back": (*mover).stepBack, "next": (*mover).next, "next-back": (*mover).nextBack,
	"finish": (*mover).finish, "finish-back": (*mover).finishBack,
}

// turn is an instruction of the processor.
func (m *mover) turn() []index.Want { return []index.Want{{What: index.Turn, CPU: m.cpu}} }

// onward is the first position of the processor at or behind one; the end of the trace if there is none.
func (m *mover) onward(position int64) (int64, error) {
	f, err := m.t.Next(m.ctx, min(position, m.t.Instructions), m.turn())
	if err != nil || f == nil {
		return m.t.Instructions, err
	}
	return f.Instruction, nil
}

// back is the last position of the processor in front of one, or that one if there is none.
func (m *mover) back(position int64) (int64, error) {
	f, err := m.t.Previous(m.ctx, position, m.turn())
	if err != nil || f == nil || f.Instruction < 0 {
		return position, err
	}
	return f.Instruction, nil
}

func found(n int64, err error) (wire.PositionFound, error) {
	return wire.PositionFound{Instruction: n}, err
}

func (m *mover) step() (wire.PositionFound, error)     { return found(m.onward(m.from + 1)) }
func (m *mover) stepBack() (wire.PositionFound, error) { return found(m.back(m.from)) }

// next is a step over the calls that begin with it, and over handlers of interrupts that come before the next instruction.
func (m *mover) next() (wire.PositionFound, error) {
	to, err := m.onward(m.from + 1)
	if err != nil {
		return wire.PositionFound{}, err
	}
	depth := m.w.depth(m.cpu, m.from)
	if inner := m.w.call(m.cpu, depth, to); inner != nil && inner.begin > m.from {
		return found(m.onward(inner.end))
	}
	return found(to, nil)
}

// nextBack is next backwards.
func (m *mover) nextBack() (wire.PositionFound, error) {
	to, err := m.back(m.from)
	if err != nil {
		return wire.PositionFound{}, err
	}
	depth := m.w.depth(m.cpu, m.from)
	if inner := m.w.call(m.cpu, depth, to); inner != nil && inner.end <= m.from {
		return found(m.back(inner.begin))
	}
	return found(to, nil)
}

// finish goes to where the innermost call has returned to.
func (m *mover) finish() (wire.PositionFound, error) {
	c := m.w.call(m.cpu, m.w.depth(m.cpu, m.from)-1, m.from)
	if c == nil {
		return wire.PositionFound{Instruction: m.from, Note: "no call is active here"}, nil
	}
	return found(m.onward(c.end))
}

// finishBack goes to the instruction that has called the function, or in front of which the handler came.
func (m *mover) finishBack() (wire.PositionFound, error) {
	c := m.w.call(m.cpu, m.w.depth(m.cpu, m.from)-1, m.from)
	if c == nil {
		return wire.PositionFound{Instruction: m.from, Note: "no call is active here"}, nil
	}
	return found(m.back(c.begin))
}
