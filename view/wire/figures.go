package wire

import (
	"encoding/json"
	"strconv"

	"tracewell/symbol/ctype"
	"tracewell/trace"
	"tracewell/view/survey"
)

// The objects of "show --stats --json", one for each tracepoint.
type (
	// Figures are what there is to say of the frames of one tracepoint.
	Figures struct {
		Tracepoint trace.Number `json:"tracepoint"`
		Source     string       `json:"source,omitempty"`
		Frames     int          `json:"frames"`
		Steps      int          `json:"steps"`
		Bytes      int64        `json:"bytes"`
		First      int          `json:"first"`
		Last       int          `json:"last"`
		PC         *PCs         `json:"pc"` // null if no pc is known
		Time       *Times       `json:"time"`
		Values     []Measured   `json:"values"`
	}
	// PCs are where the frames were made.
	PCs struct {
		Different int    `json:"different"` // survey.MostPCs stands for more, too
		Low       string `json:"low"`
		High      string `json:"high"`
	}
	// Times are when they were made, by $trace_timestamp, in microseconds.
	Times struct {
		Frames int     `json:"frames"`
		Start  int64   `json:"start"`
		End    int64   `json:"end"`
		Rate   float64 `json:"framesPerSecond"`
	}
	// Measured is the values of an expression.
	Measured struct {
		Value       string                     `json:"value"`
		Count       int                        `json:"count"`
		Lacking     int                        `json:"lacking"`
		Min         json.RawMessage            `json:"min"`
		Max         json.RawMessage            `json:"max"`
		Mean        *float64                   `json:"mean"`
		Percentiles map[string]json.RawMessage `json:"percentiles"`
		Exact       bool                       `json:"exact"` // percentiles and bins; else within 1 %
		Histogram   []Bin                      `json:"histogram"`
		Texts       []Text                     `json:"texts,omitempty"` // that pointers to characters lead to, the most frequent first
	}
	// Text is a text and how often a value led to it.
	Text struct {
		Text  string `json:"text"`
		Count int    `json:"count"`
	}
	// Bin is how many values lie between two, both included.
	Bin struct {
		Low   json.RawMessage `json:"low"`
		High  json.RawMessage `json:"high"`
		Count int             `json:"count"`
	}
)

// DescribeFigures describes the figures of one tracepoint, whose location has a source if one is known. The expressions are those
// whose values were measured, in their order; of each there are the percentiles asked for, in ascending order.
func DescribeFigures(t *survey.Figures, source string, expressions []string, percentages []int) Figures {
	object := Figures{
		Tracepoint: t.Tracepoint, Source: source,
		Frames: t.Frames, Steps: t.Steps, Bytes: t.Bytes, First: t.First, Last: t.Last,
		Values: []Measured{},
	}
	if t.PCs > 0 {
		object.PC = &PCs{t.PCs, t.Low.String(), t.High.String()}
	}
	if t.Timed > 0 {
		rate, _ := t.Rate()
		object.Time = &Times{t.Timed, t.Start, t.End, rate}
	}
	for i, text := range expressions {
		object.Values = append(object.Values, measured(text, percentages, &t.Values[i]))
	}
	return object
}

func measured(name string, percentages []int, m *survey.Measured) Measured {
	object := Measured{
		Value: name, Count: m.Count, Lacking: m.Lacking, Exact: m.Exact(),
		Percentiles: map[string]json.RawMessage{}, Histogram: []Bin{},
	}
	if m.Count == 0 {
		return object
	}
	mean := m.Mean()
	object.Min, object.Max, object.Mean = numberJSON(m.Min), numberJSON(m.Max), &mean
	for i, value := range m.Percentiles(percentages...) {
		object.Percentiles[strconv.Itoa(percentages[i])] = numberJSON(value)
	}
	for _, bin := range m.Histogram() {
		object.Histogram = append(object.Histogram, Bin{numberJSON(bin.Low), numberJSON(bin.High), bin.Count})
	}
	for _, t := range m.Texts.Frequent() {
		object.Texts = append(object.Texts, Text{t.Text, t.Count})
	}
	return object
}

// numberJSON gives a number as JSON: a number, or of a pointer a string in hexadecimal.
func numberJSON(v ctype.Number) json.RawMessage {
	if v.Type.Kind == ctype.Pointer {
		return json.RawMessage(`"` + v.String() + `"`)
	}
	return json.RawMessage(v.String())
}
