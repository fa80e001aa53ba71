// Package figures counts hits by key and prints what their values come to, for record while the program runs and for show from a
// file: the options, the keys and values of a frame by the names of its view, and the tables and JSON objects.
//
// # The flow of a frame
//
// Options are parsed with the command line. Figures has every tracepoint of a plan collect what they need (Collect); then there is
// a Writer for each view of the run's frames, as expressions mean something else when a library has brought more locations. A
// Writer finds the key of a frame as bytes that are the same for the same key, numbers as they are and texts with their end, and
// adds the readings to the table of package tally. What a key looks like is worked out once, by the first frame that has it, since
// that costs more than all else. show works out everything anew from the frames of a file, by the same code.
//
// # What is printed
//
// Print may be called at any time between two frames. All figures are of the run so far, but rates of the interval since the last
// call, so that nobody has to add up tables, and the last one is what there is to say of the run.
package figures

import (
	"slices"
	"strconv"

	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/record/plan"
	"tracewell/view/tally"
)

// Options say which figures are wanted. Their values are lists of expressions, of which those of CountBy may be fields of
// templates as well (printing.LineFormat).
type Options struct {
	CountBy   []string   `sep:"none" group:"Figures:" placeholder:"KEYS" help:"Count hits by these, with commas between them: expressions, or ${figureFields}. A pointer to characters counts by its text."`
	Histogram []string   `sep:"none" group:"Figures:" placeholder:"EXPR[,LOW,HIGH,STEP]" help:"Print a histogram of an expression for each key, by powers of two or from LOW to HIGH in buckets of STEP."`
	Sum       []string   `sep:"none" group:"Figures:" placeholder:"EXPRS" help:"Print the sum for each key."`
	Avg       []string   `sep:"none" group:"Figures:" placeholder:"EXPRS" help:"Print the mean for each key."`
	Min       []string   `sep:"none" group:"Figures:" placeholder:"EXPRS" help:"Print the least value for each key."`
	Max       []string   `sep:"none" group:"Figures:" placeholder:"EXPRS" help:"Print the greatest value for each key."`
	Quantiles []string   `sep:"none" group:"Figures:" placeholder:"EXPRS" help:"Print the median and the 90th and 99th percentile for each key, within 1 %."`
	Every     flags.Span `group:"Figures:" placeholder:"TIME" help:"Print the figures at this interval: 5s, 500ms. The last time they are about the whole run."`
}

// Given reports whether any figure is wanted.
func (o *Options) Given() bool {
	return len(slices.Concat(o.CountBy, o.Histogram, o.Sum, o.Avg, o.Min, o.Max, o.Quantiles)) > 0
}

// percentages are what --quantiles prints.
var percentages = []int{50, 90, 99}

// column is a figure of each group: a column of the table.
type column struct {
	title string // what stands in front of the expression
	value int    // index of the value
	of    func(*tally.Measured) string
}

// wanted is what the options mean.
type wanted struct {
	keys    []plan.Text
	values  []plan.Text
	gather  []tally.Gather // of each value
	columns []column
	sum     int // index of the value whose sum orders the groups, -1 for none
}

// parse takes the options apart. An error is of type *expr.Error or says which option it is about.
func (o *Options) parse() (*wanted, error) {
	w := &wanted{sum: -1}
	for _, text := range o.CountBy {
		list, err := plan.List("--count-by", text)
		if err != nil {
			return nil, err
		}
		w.keys = append(w.keys, list...)
	}
	// The columns stand in this order, whatever that of the command line is.
	for _, option := range []struct {
		name    string
		texts   []string
		gather  tally.Gather
		columns []column
	}{
		{"--sum", o.Sum, tally.Gather{}, []column{{title: "sum", of: func(m *tally.Measured) string { return m.Sum().String() }}}},
		{"--avg", o.Avg, tally.Gather{}, []column{{title: "avg", of: mean}}},
		{"--min", o.Min, tally.Gather{}, []column{{title: "min", of: least}}},
		{"--max", o.Max, tally.Gather{}, []column{{title: "max", of: greatest}}},
		{"--quantiles", o.Quantiles, tally.Gather{Quantiles: true}, quantileColumns()},
	} {
		for _, text := range option.texts {
			list, err := plan.List(option.name, text)
			if err != nil {
				return nil, err
			}
			for _, e := range list {
				w.add(e, option.gather, option.columns)
			}
		}
	}
	if len(o.Sum) > 0 {
		w.sum = 0
	}
	for _, text := range o.Histogram {
		if err := w.addHistogram(text); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// add adds an expression with its columns. What is gathered of one expression by several options is one value.
func (w *wanted) add(e plan.Text, gather tally.Gather, columns []column) {
	i := slices.IndexFunc(w.values, func(known plan.Text) bool { return known.Value == e.Value })
	// The text decides: two spellings of one expression are two values, which costs time and is not wrong.
	if i < 0 {
		i = len(w.values)
		w.values, w.gather = append(w.values, e), append(w.gather, tally.Gather{})
	}
	w.gather[i].Quantiles = w.gather[i].Quantiles || gather.Quantiles
	for _, c := range columns {
		c.value = i
		w.columns = append(w.columns, c)
	}
}

// addHistogram adds a value of its own, as one expression may have several histograms.
func (w *wanted) addHistogram(text string) error {
	list, err := plan.List("--histogram", text)
	if err != nil {
		return err
	}
	var scale tally.Scale
	// Commas within brackets are the expression's own.
	switch len(list) {
	case 1:
	case 4:
		if scale, err = tally.NewScale(list[1].Value, list[2].Value, list[3].Value); err != nil {
			return list[1].Explain(err)
		}
	default:
		return list[0].Fault(0, len(list[0].Value), "a histogram is EXPR, or EXPR,LOW,HIGH,STEP", "")
	}
	w.values, w.gather = append(w.values, list[0]), append(w.gather, tally.Gather{Histogram: &scale})
	return nil
}

// quantileColumns are those of one expression.
func quantileColumns() (columns []column) {
	for i, p := range percentages {
		// All percentiles of a group are found in one pass, which a table of few rows can afford for each.
		columns = append(columns, column{title: "p" + strconv.Itoa(p), of: func(m *tally.Measured) string {
			values, _ := m.Quantiles(percentages...)
			if i >= len(values) {
				return ""
			}
			return nameOf(values[i])
		}})
	}
	return columns
}
