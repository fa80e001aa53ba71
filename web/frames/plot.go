package frames

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"

	"tracewell/symbol/ctype"
	"tracewell/view/survey"
	"tracewell/view/wire"
)

// plotKinds are the ways in which values are drawn: points, as long as they are few; lines, with the least and the greatest of each
// bin where there are more values than bins; how often values came; how often they came over x.
var plotKinds = []string{"line", "points", "histogram", "heat"}

// Sizes of a plot.
const (
	mostPoints = 4000
	gridHeight = 64
	gridWidth  = 240 // at most
)

// plot answers "plot": the values of y over positions, or over those of x.
func (s *snapshot) plot(ctx context.Context, args url.Values) (any, error) {
	kind := args.Get("kind")
	if !slices.Contains(plotKinds, kind) {
		return nil, fmt.Errorf("there is no plot %q", kind)
	}
	a, err := s.axis(args)
	if err != nil {
		return nil, err
	}
	y, err := s.column(ctx, args.Get("y"))
	if err != nil {
		return nil, err
	}
	var x *column
	if name := args.Get("x"); name != "" && kind != "histogram" {
		if x, err = s.column(ctx, name); err != nil {
			return nil, err
		}
	}
	numbers, err := s.chosen(ctx, args)
	if err != nil {
		return nil, err
	}
	p := plotter{snapshot: s, axis: a, x: x, y: y}
	p.collect(numbers)
	switch {
	case kind == "histogram":
		return p.histogram(), nil
	case kind == "heat" || x != nil && len(p.ys) > mostPoints:
		return p.grid(), nil
	case len(p.ys) <= mostPoints && (kind == "points" || len(p.ys) <= a.bins):
		return p.points(), nil
	case kind == "points":
		return p.grid(), nil
	}
	return p.bands(), nil
}

// plotter draws the values of some frames.
type plotter struct {
	*snapshot
	axis    axis
	x, y    *column // x is nil for positions
	frames  []int32 // that have both
	xs, ys  []float64
	numbers []ctype.Number // the values of y of one type
	lacking int
}

// collect finds the values of the frames.
func (p *plotter) collect(numbers []int32) {
	for _, i := range numbers {
		y, ok := p.y.at(i)
		at, hasX := p.at(i)
		if !ok || !hasX {
			p.lacking++
			continue
		}
		p.frames, p.xs, p.ys = append(p.frames, i), append(p.xs, at), append(p.ys, y.Float())
		if len(p.numbers) == 0 || p.numbers[0].Type == y.Type {
			p.numbers = append(p.numbers, y)
		}
	}
}

// at is where a frame is on the x axis.
func (p *plotter) at(i int32) (float64, bool) {
	if p.x != nil {
		v, ok := p.x.at(i)
		if !ok {
			return 0, false
		}
		return v.Float(), true
	}
	at, ok := p.index.position(int(i))
	return float64(at), ok
}

// frame is the part of the answer that all kinds have.
func (p *plotter) frame(kind string) wire.PagePlot {
	plot := wire.PagePlot{Kind: kind, Count: len(p.ys), Lacking: p.lacking, Integers: true, Summary: p.summary(),
		XRange: span(p.xs), YRange: span(p.ys)}
	if p.x == nil {
		plot.XRange = []wire.PageFloat{wire.PageFloat(p.axis.from), wire.PageFloat(p.axis.to)}
	}
	for _, t := range p.y.types {
		plot.Integers = plot.Integers && t.Kind != ctype.Float
		for _, e := range t.Values {
			plot.Names = append(plot.Names, wire.PageName{Value: wire.PageFloat(e.Value), Name: e.Name})
		}
	}
	return plot
}

// span is the least and the greatest of some values, nil for none.
func span(values []float64) []wire.PageFloat {
	if len(values) == 0 {
		return nil
	}
	return []wire.PageFloat{wire.PageFloat(slices.Min(values)), wire.PageFloat(slices.Max(values))}
}

func (p *plotter) points() wire.PagePlot {
	plot := p.frame("points")
	for i := range p.ys {
		plot.Frames = append(plot.Frames, int(p.frames[i]))
		plot.X, plot.Y = append(plot.X, wire.PageFloat(p.xs[i])), append(plot.Y, wire.PageFloat(p.ys[i]))
	}
	return plot
}

// bands are the least, the greatest and the mean of each bin.
func (p *plotter) bands() wire.PagePlot {
	plot := p.frame("bands")
	counts := make([]int, p.axis.bins)
	width := float64(p.axis.to-p.axis.from) / float64(p.axis.bins)
	for bin := range p.axis.bins {
		plot.X = append(plot.X, wire.PageFloat(float64(p.axis.from)+(float64(bin)+.5)*width))
	}
	none := wire.PageFloat(math.NaN())
	for _, list := range []*[]wire.PageFloat{&plot.Y, &plot.Low, &plot.High} {
		*list = make([]wire.PageFloat, p.axis.bins)
	}
	for i, y := range p.ys {
		bin, ok := p.axis.bin(int64(p.xs[i]))
		if !ok {
			continue
		}
		v := wire.PageFloat(y)
		if counts[bin] == 0 {
			plot.Low[bin], plot.High[bin] = v, v
		}
		counts[bin]++
		plot.Low[bin], plot.High[bin] = min(plot.Low[bin], v), max(plot.High[bin], v)
		plot.Y[bin] += v
	}
	for bin, n := range counts {
		if n == 0 {
			plot.Y[bin], plot.Low[bin], plot.High[bin] = none, none, none
			continue
		}
		plot.Y[bin] /= wire.PageFloat(n)
	}
	return plot
}

// grid counts values over x.
func (p *plotter) grid() wire.PagePlot {
	plot := p.frame("grid")
	if len(p.ys) == 0 {
		return plot
	}
	columns := min(p.axis.bins, gridWidth)
	cell := func(v float64, span []wire.PageFloat, cells int) int {
		low, high := float64(span[0]), float64(span[1])
		if high <= low || math.IsNaN(v) {
			return 0
		}
		return max(0, min(int((v-low)/(high-low)*float64(cells)), cells-1))
	}
	plot.Grid = make([][]int, gridHeight)
	for row := range plot.Grid {
		plot.Grid[row] = make([]int, columns)
	}
	for i := range p.ys {
		if p.x == nil && (p.xs[i] < float64(p.axis.from) || p.xs[i] >= float64(p.axis.to)) {
			continue
		}
		plot.Grid[cell(p.ys[i], plot.YRange, gridHeight)][cell(p.xs[i], plot.XRange, columns)]++
	}
	return plot
}

// histogram is that of show --value.
func (p *plotter) histogram() wire.PagePlot {
	plot := p.frame("bins")
	var d survey.Distribution
	for _, n := range p.numbers {
		d.Add(n)
	}
	plot.Bins = []wire.PageBin{}
	for _, bin := range d.Histogram() {
		plot.Bins = append(plot.Bins, wire.PageBin{Low: valueName(bin.Low), High: valueName(bin.High), Count: bin.Count})
	}
	return plot
}

// summary sums up the values of y, nil for none.
func (p *plotter) summary() *wire.PageFigure {
	if len(p.numbers) == 0 {
		return nil
	}
	var d survey.Distribution
	for _, n := range p.numbers {
		d.Add(n)
	}
	percentiles := d.Percentiles(50, 99)
	return &wire.PageFigure{
		Min: valueName(d.Min), Max: valueName(d.Max), Mean: strconv.FormatFloat(d.Mean(), 'g', 6, 64),
		Median: valueName(percentiles[0]), P99: valueName(percentiles[1]), Exact: d.Exact(),
	}
}

// valueName is a value in words: of an enumeration by its name.
func valueName(v ctype.Number) string {
	for _, e := range v.Type.Values {
		if uint64(e.Value) == v.Bits {
			return e.Name
		}
	}
	return v.String()
}
