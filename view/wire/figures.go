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
		Tracepoint trace.Number `json:"tracepoint"`       // GDB's number of it
		Source     string       `json:"source,omitempty"` // as its user set it; absent if the file does not tell
		Frames     int          `json:"frames"`           // all, with steps
		Steps      int          `json:"steps"`            // frames of while-stepping
		Bytes      int64        `json:"bytes"`            // of frames in the file
		First      int          `json:"first"`            // number of its first frame
		Last       int          `json:"last"`             // number of its last frame
		PC         *PCs         `json:"pc"`               // null if no pc is known
		Time       *Times       `json:"time"`             // null if no frame has a time
		Values     []Measured   `json:"values"`           // of --value, in that order
	}
	// PCs are where the frames were made.
	PCs struct {
		Different int    `json:"different"` // how many; 1000 stands for more, too
		Low       string `json:"low"`
		High      string `json:"high"`
	}
	// Times are when they were made, by $trace_timestamp, in microseconds.
	Times struct {
		Frames int     `json:"frames"`          // that have a time
		Start  int64   `json:"start"`           // of the first
		End    int64   `json:"end"`             // of the last
		Rate   float64 `json:"framesPerSecond"` // 0 if all have one time
	}
	// Measured is the values of an expression.
	Measured struct {
		Value       string                     `json:"value"`       // the expression
		Count       int                        `json:"count"`       // frames that have it
		Lacking     int                        `json:"lacking"`     // frames that do not
		Min         json.RawMessage            `json:"min"`         // null without a value
		Max         json.RawMessage            `json:"max"`         // null without a value
		Mean        *float64                   `json:"mean"`        // null without a value
		Percentiles map[string]json.RawMessage `json:"percentiles"` // by the percentage: 50, 90, 99
		Exact       bool                       `json:"exact"`       // percentiles and bins; else within 1 %
		Histogram   []Bin                      `json:"histogram"`
		Texts       []Text                     `json:"texts,omitempty"` // that pointers to characters lead to, the most frequent first
	}
	// Text is a text and how often a value led to it.
	Text struct {
		Text  string `json:"text"`
		Count int    `json:"count"` // how often
	}
	// Bin is how many values lie between two, both included.
	Bin struct {
		Low   json.RawMessage `json:"low"`   // included
		High  json.RawMessage `json:"high"`  // included
		Count int             `json:"count"` // values
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
