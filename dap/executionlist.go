package dap

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/symbol/expr"
)

// list implements debuggee: the frames of an execution are its instructions.
func (x *executionTrace) list() frameList { return instructionList{x} }

type instructionList struct{ x *executionTrace }

func (l instructionList) count() int { return int(l.x.trace.Instructions) }

func (l instructionList) entry(i int) (frameEntry, error) {
	it, err := l.x.trace.Instruction(int64(i))
	if err != nil {
		return frameEntry{}, err
	}
	e := frameEntry{Frame: i, Place: l.x.named.describe(arch.Addr(it.Addr)), Thread: int(it.CPU) + 1}
	e.Values = text.Visible(string(it.Words))
	if it.Time != 0 {
		e.Time = strconv.FormatUint(it.Time, 10)
	}
	return e, nil
}

func (l instructionList) tree(i int) *tree {
	return &tree{list: func(ctx context.Context, from, to int) ([]node, error) {
		effects, err := l.x.trace.Effects(int64(i))
		if err != nil {
			return nil, err
		}
		var nodes []node
		for k := range effects {
			if it := &effects[k]; it.Kind == itrace.Register || it.Kind == itrace.Memory {
				nodes = append(nodes, l.x.effect(it))
			}
		}
		return fixed(nodes).list(ctx, from, to)
	}}
}

func (l instructionList) filter(where string) (func(int) (bool, error), error) {
	p := &tracePoint{&breakpoint{condition: where}, make(map[arch.Addr]*expr.Evaluator)}
	return func(i int) (bool, error) {
		it, err := l.x.trace.Instruction(int64(i))
		if err != nil {
			return false, err
		}
		return l.x.holds(p, l.x.probed(int64(i), it.CPU)), nil
	}, nil
}

// commands implements debuggee.
func (x *executionTrace) commands() []command {
	return []command{
		{"goto", "POSITION", "goes to 1200, :LINE, @TIME, begin, end, or the next execution of a place", x.goTo},
		{"where", "", "says at which instruction and line of the trace this is",
			func(context.Context, *session, string) (string, *stop, error) { return x.here.Position(), nil, nil }},
		{"writers", "WHAT", "lists who wrote a register, a variable or ADDRESS,BYTES last, and who will next", x.writers},
	}
}

func (x *executionTrace) goTo(ctx context.Context, _ *session, place string) (string, *stop, error) {
	position, err := x.query.Position(ctx, place, x.position())
	if err != nil {
		return "", nil, err
	}
	at, err := x.jump(int(max(position, 0)))
	return "", &at, err
}

// writers lists the nearest writers on either side.
func (x *executionTrace) writers(ctx context.Context, _ *session, what string) (string, *stop, error) {
	o, err := x.query.Object(what)
	if err != nil {
		return "", nil, err
	}
	const most = 5
	var lines []string
	show := func(f index.Found) {
		words := "in front of all instructions"
		if f.Instruction >= 0 {
			if it, err := x.trace.Instruction(f.Instruction); err == nil {
				words = fmt.Sprintf("%d: %s", f.Instruction, x.named.describe(arch.Addr(it.Addr)))
			}
		}
		lines = append(lines, fmt.Sprintf("%s wrote %s", words, f.Item.Digits))
	}
	wants := x.accesses(o, "write")
	if len(wants) == 0 {
		return "the trace never writes it", nil, nil
	}
	err = x.trace.EachBack(ctx, index.Ahead, x.position(), wants, func(f index.Found) bool {
		show(f)
		return len(lines) < most
	})
	slices.Reverse(lines)
	lines = append(lines, fmt.Sprintf("---- %d: here", x.position()))
	ahead := len(lines) + most
	if err == nil {
		err = x.trace.Each(ctx, x.position(), x.trace.Instructions, wants, func(f index.Found) bool {
			show(f)
			return len(lines) < ahead
		})
	}
	return strings.Join(lines, "\n"), nil, err
}
