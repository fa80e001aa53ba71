package execution

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"tracewell/arch/flow"
	"tracewell/itrace"
	"tracewell/itrace/index"
	"tracewell/itrace/program"
	"tracewell/itrace/query"
	"tracewell/view/wire"
)

// disassembly is the text of an instruction by its opcode in the trace, or else by the code of the program; "" if neither tells.
func (s *Subject) disassembly(it *index.Item) string {
	set := s.setAt(it)
	if set == nil {
		return ""
	}
	if value, wild, ok := itrace.ParseDigits(it.Digits); ok && !wild {
		if text := set.Text(set.Append(nil, value, (len(it.Digits)+1)/2), it.Addr); text != "" {
			return text
		}
	}
	if s.code != nil {
		return set.Text(s.code.Code(it.Addr), it.Addr)
	}
	return ""
}

// setAt is the instruction set at an instruction.
func (s *Subject) setAt(it *index.Item) *flow.Set {
	set := s.set()
	if set == nil && s.Execution.Machine != nil {
		set = flow.Of(s.Execution.Machine, s.Execution.Order)
	}
	if set != nil && it.Thumb {
		return set.In('T')
	}
	return set
}

// mostListed is how many instructions a listing has, around that at the cursor.
const mostListed = 2000

// listing is the code of the function at the cursor.
func (s *Subject) listing(_ context.Context, t *query.Trace, args url.Values) (any, error) {
	position, err := at(t, args)
	if err != nil {
		return nil, err
	}
	it, err := t.Instruction(min(position, t.Instructions-1))
	if err != nil {
		return nil, err
	}
	w := s.read()
	if s.code != nil {
		if i := s.code.At(it.Addr); i >= 0 && s.code.Set != nil {
			return s.ofFunction(t, w, it, s.code.Functions[i]), nil
		}
	}
	return s.nearby(t, w, it), nil
}

// ofFunction lists the code of a function, or of the part of it that the instruction is in.
func (s *Subject) ofFunction(t *query.Trace, w *whole, it *index.Item, f program.Function) wire.CodeListing {
	answer := wire.CodeListing{Function: f.Name, Lines: []wire.CodeLine{}}
	set := s.code.Set
	if it.Thumb {
		set = set.In('T')
	}
	var addrs []uint64
	for pc := f.Begin; pc < f.End; {
		in := set.Decode(s.code.Code(pc), pc)
		size := uint64(in.Len)
		if in.Delayed {
			size /= 2
		}
		if size == 0 {
			break
		}
		addrs = append(addrs, pc)
		answer.Lines = append(answer.Lines, s.codeLine(t, w, set, pc, size, in))
		pc += size
	}
	at, _ := slices.BinarySearch(addrs, it.Addr)
	from := min(max(at-mostListed/2, 0), max(len(addrs)-mostListed, 0))
	answer.Lines = answer.Lines[from:min(from+mostListed, len(addrs))]
	return answer
}

// codeLine is an instruction of the program.
func (s *Subject) codeLine(t *query.Trace, w *whole, set *flow.Set, pc, size uint64, in flow.Flow) wire.CodeLine {
	code := s.code.Code(pc)
	code = code[:min(int(size), len(code))]
	l := wire.CodeLine{Address: fmt.Sprintf("0x%x", pc), Bytes: hex.EncodeToString(code), Text: set.Text(code, pc)}
	if l.Text == "" && w != nil {
		l.Text = w.words[pc] // what the trace calls it, if it was executed
	}
	if l.Text == "" {
		l.Text = set.Mnemonic(code, pc)
	}
	if in.Direct {
		l.Target, l.TargetSymbol = fmt.Sprintf("0x%x", in.Target), t.Place(in.Target).Symbol
	}
	if path, line, ok := s.code.Line(pc); ok {
		l.Source = s.place(path, line)
	}
	if w != nil {
		none := uint64(0)
		l.Count = &none
		if n := w.Table.Find(pc); n >= 0 {
			describeCount(&l, w, n)
		}
	}
	return l
}

// describeCount adds how often the instruction at a site was executed.
func describeCount(l *wire.CodeLine, w *whole, n int) {
	site := &w.Table.Sites[n]
	count := site.Count
	l.Count = &count
	if l.Branch = site.Flow.Kind == flow.Jump && site.Flow.Conditional; l.Branch {
		l.Taken, l.Past = site.Taken, site.Past
	}
}

// nearby lists what was executed near an instruction of which no function is known. Without the whole trace that is the instruction
// alone.
func (s *Subject) nearby(t *query.Trace, w *whole, it *index.Item) wire.CodeListing {
	answer := wire.CodeListing{Executed: true, Lines: []wire.CodeLine{}}
	if w == nil {
		text := cmp.Or(strings.TrimSpace(string(it.Words)), s.disassembly(it))
		answer.Lines = append(answer.Lines, wire.CodeLine{Address: fmt.Sprintf("0x%x", it.Addr), Text: text})
		return answer
	}
	at, _ := slices.BinarySearchFunc(w.executed, it.Addr, func(n int, pc uint64) int {
		return cmp.Compare(w.Table.Sites[n].PC, pc)
	})
	from, to := at, at
	for from > 0 && at-from < mostListed/2 && w.near(from-1, from) {
		from--
	}
	for to+1 < len(w.executed) && to-at < mostListed/2 && w.near(to, to+1) {
		to++
	}
	if function := w.Table.Sites[w.executed[min(at, len(w.executed)-1)]].Function; function >= 0 {
		answer.Function = w.name(function)
	}
	for _, n := range w.executed[from:min(to+1, len(w.executed))] {
		site := &w.Table.Sites[n]
		l := wire.CodeLine{Address: fmt.Sprintf("0x%x", site.PC), Text: cmp.Or(w.words[site.PC], w.Table.Mnemonic(n))}
		if site.Flow.Direct {
			l.Target, l.TargetSymbol = fmt.Sprintf("0x%x", site.Flow.Target), t.Place(site.Flow.Target).Symbol
		}
		describeCount(&l, w, n)
		answer.Lines = append(answer.Lines, l)
	}
	return answer
}

// farAway is how many bytes lie between pieces of code that have nothing to do with one another.
const farAway = 256

// near reports whether two sites, by their numbers in order of addresses, are of one piece of code.
func (w *whole) near(a, b int) bool {
	x, y := &w.Table.Sites[w.executed[a]], &w.Table.Sites[w.executed[b]]
	return x.Function == y.Function && y.PC-x.PC < farAway
}
