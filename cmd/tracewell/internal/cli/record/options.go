package record

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/record/plan"
	"tracewell/symbol/container"
)

// planOption is an option whose values are texts of a plan, which may begin with a dash, as "-probe demo:item" does.
type planOption []string

// Decode implements kong.MapperValue.
func (o *planOption) Decode(ctx *kong.DecodeContext) error {
	// kong takes a word with a dash for a flag. Behind an equals sign any value is one; behind a blank two dashes are the next option,
	// which is more likely than an expression that begins with a decrement.
	token := ctx.Scan.Pop()
	if token.IsEOL() || token.Type != kong.FlagValueToken && strings.HasPrefix(token.String(), "--") {
		return fmt.Errorf("--%s needs a value", ctx.Value.Name)
	}
	*o = append(*o, token.String())
	return nil
}

// spareOption is an option whose value may be omitted. A value follows an equals sign, as the next word would be ambiguous.
type spareOption []string

// Decode implements kong.MapperValue.
func (o *spareOption) Decode(ctx *kong.DecodeContext) error {
	value := ""
	if ctx.Scan.Peek().Type == kong.FlagValueToken {
		value = ctx.Scan.Pop().String()
	}
	*o = append(*o, value)
	return nil
}

// IsBool implements kong.BoolMapperValue.
func (*spareOption) IsBool() bool { return true }

// planItems are the options of a command line that make a plan, in their order, which has a meaning: what follows --at belongs to
// it. kong keeps the path of what it parsed in that order, and the values of each option in a list of their own.
func planItems(ctx *kong.Context) []plan.Item {
	var items []plan.Item
	seen := map[*kong.Flag]int{}
	for _, p := range ctx.Path {
		if p.Flag == nil {
			continue
		}
		// The n-th time that an option stands in the path its n-th value is meant.
		n := seen[p.Flag]
		seen[p.Flag]++
		switch values := p.Flag.Target.Interface().(type) {
		case planOption:
			items = append(items, plan.Item{Option: "--" + p.Flag.Name, Value: values[n]})
		case spareOption:
			items = append(items, plan.Item{Option: "--" + p.Flag.Name, Value: values[n]})
		}
	}
	return items
}

// Variables are what the help of record refers to.
func Variables() kong.Vars {
	return kong.Vars{
		"here":           console.Platforms(), // in the help of other commands, too
		"elements":       strconv.Itoa(container.Usual.Elements),
		"text":           strconv.Itoa(container.Usual.Text),
		"depth":          strconv.Itoa(container.Usual.Depth),
		"backtraceBytes": strconv.Itoa(plan.DefaultBacktrace),
		"circularBytes":  fmt.Sprintf("%dM", circularBytes>>20),
		"formatFields":   strings.Join(printing.FieldNames(), ", "),
	}
}

// The values of kong's options are decoded by the methods of their types, so that a wrong one is an error of the command line
// that names the option and says what is right. Values of a plan are only kept here: package plan parses them, as it does those
// of scripts.

// byteCount is a number of bytes of more than 0, in binary units if it ends in K, M or G, which B or iB may follow. A shift that
// would overflow is refused.
type byteCount int64

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *byteCount) UnmarshalText(text []byte) error {
	digits, shift := string(text), 0
	if i := strings.IndexAny(digits, "kKmMgG"); i >= 0 {
		unit := strings.ToUpper(digits[i : i+1])
		if rest := digits[i+1:]; rest == "" || rest == "B" || rest == "iB" {
			digits, shift = digits[:i], 10*(1+strings.Index("KMG", unit))
		}
	}
	// 0 is refused, because without the option there is no buffer: a buffer of nothing would end the run with the first frame.
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is no size, such as 64M or 1G", text)
	}
	*b = byteCount(n << shift)
	return nil
}

// pidList are the processes of --pid, which may stand one behind the other or with commas between them.
type pidList []int

// Decode implements kong.MapperValue.
func (p *pidList) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	for part := range strings.SplitSeq(token.String(), ",") {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 31)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is no number of a process", token.String())
		}
		*p = append(*p, int(n))
	}
	return nil
}
