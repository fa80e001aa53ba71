package figures

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/printing"
	"tracewell/internal/jsontext"
	"tracewell/internal/text"
	"tracewell/view/tally"
	"tracewell/view/wire"
)

// Moment is when figures are printed: how long after the first hit, and after they were printed before; 0 where that is not known,
// and Interval is 0 if they are about the whole.
type Moment struct{ Since, Interval time.Duration }

// Print prints the figures as they are, as a table or a JSON object, and begins another interval. A table with a height leaves out
// the keys that would not fit into as many lines.
func (f *Figures) Print(out *console.Output, at Moment, height int) error {
	defer f.table.Mark()
	if f.json {
		return jsontext.Write(out, f.object(at), "")
	}
	most := f.top
	if height > 0 {
		most = max(1, min(most, height-around))
	}
	if height == 0 {
		if f.printed {
			fmt.Fprintln(out) // between two tables
		}
		f.printed = true
	}
	f.title(out, at)
	groups := f.groups(most)
	if err := f.rows(out, at, groups); err != nil {
		return err
	}
	f.rest(out, groups)
	f.histograms(out, groups)
	return nil
}

// around is how many lines there are besides the rows of keys: the title, the headings, what is left out, and the cursor's.
const around = 5

// groups are those that are printed.
func (f *Figures) groups(most int) []*tally.Group[label] {
	if f.sum >= 0 {
		return f.table.TopBySum(f.sum, most)
	}
	return f.table.Top(most)
}

// title sums up: "3.0 s: 120 hits, 40 per s, 5 keys".
func (f *Figures) title(out *console.Output, at Moment) {
	var b bytes.Buffer
	if at.Since > 0 {
		fmt.Fprintf(&b, "%.1f s: ", at.Since.Seconds())
	}
	b.WriteString(text.Plural(f.table.Hits, "hit"))
	if per := f.rate(f.table.Hits, f.table.Recent(), at); per != "" {
		fmt.Fprintf(&b, ", %s per s", per)
	}
	if len(f.keys) > 0 {
		fmt.Fprintf(&b, ", %s", text.Plural(f.table.Len(), "key"))
	}
	fmt.Fprintln(out, out.Style.Heading(b.String()))
}

// rate is hits per second: of the interval, or of the whole if that is what is printed.
func (f *Figures) rate(all, recent int, at Moment) string {
	// One decimal is enough for what changes from one interval to the next.
	n, within := recent, at.Interval
	if at.Interval == 0 {
		n, within = all, at.Since
	}
	if within <= 0 {
		return ""
	}
	return printing.Short(float64(int(float64(n)/within.Seconds()*10)) / 10)
}

// rows prints a row for each group. Bars compare their hits.
func (f *Figures) rows(out *console.Output, at Moment, groups []*tally.Group[label]) error {
	var columns []text.Column
	for _, title := range titles(f.keys) {
		columns = append(columns, text.Column{Title: text.Visible(title)})
	}
	for _, title := range []string{"hits", "%", "per s"} {
		columns = append(columns, text.Column{Title: title, Right: true})
	}
	for _, c := range f.columns {
		columns = append(columns, text.Column{Title: c.title + " " + text.Visible(f.values[c.value].Value), Right: true})
	}
	if len(f.keys) > 0 {
		columns = append(columns, text.Column{})
	} else if len(f.columns) == 0 {
		return nil // the title has it all
	}
	// The bar is the last column, so that a narrow terminal cuts it and no number.
	table := text.NewTable(out, out.Width, out.Style, columns...)
	// Groups may be in the order of sums, so that the most frequent need not be the first.
	most := 0
	for _, g := range groups {
		most = max(most, g.Count)
	}
	for _, g := range groups {
		row := g.Label.cells()
		count := strconv.Itoa(g.Count)
		// The count that is known stands beside the mark, and what it may lack in JSON.
		if g.Short > 0 {
			count = "≥ " + count
		}
		share := printing.Short(float64(int(float64(g.Count)/float64(f.table.Hits)*1000)) / 10)
		row = append(row, count, share, f.rate(g.Count, g.Recent(), at))
		for _, c := range f.columns {
			row = append(row, c.of(&g.Values[c.value]))
		}
		if len(f.keys) > 0 {
			row = append(row, printing.Bar(g.Count, most))
		}
		if err := table.Row(console.CellsOf(row)); err != nil {
			return err
		}
	}
	return table.Flush()
}

// cells are the columns of a key.
func (l label) cells() (cells []string) {
	for _, p := range l {
		cells = append(cells, p.text)
	}
	return cells
}

// rest says what the rows leave out, and which figures are not exact.
func (f *Figures) rest(out *console.Output, groups []*tally.Group[label]) {
	// Nothing is left out without a word: neither keys, nor hits, nor values that a hit lacks.
	if more := f.table.Len() - len(groups); more > 0 {
		fmt.Fprintf(out, "… %d more keys …\n", more)
	}
	if f.table.Dropped > 0 {
		fmt.Fprintf(out, "%s with rare keys dropped: there were too many keys; ≥ marks counts that may lack some of them\n",
			text.Plural(f.table.Dropped, "hit"))
	}
	for i, n := range f.lacking {
		if n > 0 {
			fmt.Fprintf(out, "%s without %s\n", text.Plural(n, "hit"), text.Visible(f.values[i].Value))
		}
	}
}

// histograms prints those of each group, below the name of its key.
func (f *Figures) histograms(out *console.Output, groups []*tally.Group[label]) {
	// They stand below the table, key by key in its order: within a row there is no room.
	for _, g := range groups {
		for i, gather := range f.gather {
			buckets := g.Values[i].Buckets()
			if gather.Histogram == nil || len(buckets) == 0 {
				continue
			}
			title := text.Visible(f.values[i].Value)
			for _, p := range g.Label {
				title += ", " + p.text
			}
			fmt.Fprintln(out, out.Style.Heading(title))
			names, counts := make([]string, len(buckets)), make([]int, len(buckets))
			for i, b := range buckets {
				names[i], counts[i] = bucketName(b), b.Count
			}
			printing.WriteBars(out, names, counts)
		}
	}
}

// bucketName is the range of a bucket.
func bucketName(b tally.Bucket) string {
	switch {
	case b.NoLow:
		return "… " + b.High.String()
	case b.NoHigh:
		return b.Low.String() + " …"
	// Of an enumeration each value has a name, and a range of them has none.
	case b.Low == b.High:
		return nameOf(b.Low)
	}
	return b.Low.String() + " … " + b.High.String()
}

// object is what is printed as JSON.
func (f *Figures) object(at Moment) wire.Tally {
	// The number of keys is that of all, so that a program sees what --top leaves out.
	object := wire.Tally{
		Seconds: at.Since.Seconds(), Interval: at.Interval.Seconds(), Hits: f.table.Hits, Recent: f.table.Recent(),
		By: titles(f.keys), Keys: f.table.Len(), Dropped: f.table.Dropped, Groups: []wire.TallyGroup{},
	}
	for _, g := range f.groups(f.top) {
		group := wire.TallyGroup{Hits: g.Count, Recent: g.Recent(), Short: g.Short, Key: []json.RawMessage{}, Values: []wire.TallyValue{}}
		for _, p := range g.Label {
			group.Key = append(group.Key, p.json)
		}
		for i := range g.Values {
			group.Values = append(group.Values, wire.DescribeTallied(f.values[i].Value, percentages, &g.Values[i]))
		}
		object.Groups = append(object.Groups, group)
	}
	return object
}
