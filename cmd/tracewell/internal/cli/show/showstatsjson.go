package show

import (
	"encoding/json"
	"strconv"

	"tracewell/internal/jsontext"
	"tracewell/symbol/ctype"
	"tracewell/trace"
	"tracewell/view/survey"
)

// The objects of "show --stats --json", one for each tracepoint.
type (
	figuresObject struct {
		Tracepoint trace.Number     `json:"tracepoint"`
		Source     string           `json:"source,omitempty"`
		Frames     int              `json:"frames"`
		Steps      int              `json:"steps"`
		Bytes      int64            `json:"bytes"`
		First      int              `json:"first"`
		Last       int              `json:"last"`
		PC         *pcObject        `json:"pc"` // null if no pc is known
		Time       *timeObject      `json:"time"`
		Values     []measuredObject `json:"values"`
	}
	pcObject struct {
		Different int    `json:"different"` // survey.MostPCs stands for more, too
		Low       string `json:"low"`
		High      string `json:"high"`
	}
	timeObject struct { // by $trace_timestamp, in microseconds
		Frames int     `json:"frames"`
		Start  int64   `json:"start"`
		End    int64   `json:"end"`
		Rate   float64 `json:"framesPerSecond"`
	}
	measuredObject struct {
		Value       string                     `json:"value"`
		Count       int                        `json:"count"`
		Lacking     int                        `json:"lacking"`
		Min         json.RawMessage            `json:"min"`
		Max         json.RawMessage            `json:"max"`
		Mean        *float64                   `json:"mean"`
		Percentiles map[string]json.RawMessage `json:"percentiles"`
		Exact       bool                       `json:"exact"` // percentiles and bins; else within 1 %
		Histogram   []binObject                `json:"histogram"`
		Texts       []textObject               `json:"texts,omitempty"` // that pointers to characters lead to, the most frequent first
	}
	textObject struct {
		Text  string `json:"text"`
		Count int    `json:"count"`
	}
	binObject struct {
		Low   json.RawMessage `json:"low"`
		High  json.RawMessage `json:"high"`
		Count int             `json:"count"`
	}
)

// objects prints the figures as JSON.
func (s *statistics) objects() error {
	for _, t := range s.summary.Tracepoints() {
		if err := jsontext.Write(s.out, s.object(t), ""); err != nil {
			return err
		}
	}
	return nil
}

func (s *statistics) object(t *survey.Figures) figuresObject {
	object := figuresObject{
		Tracepoint: t.Tracepoint, Source: s.view.Source(t.Tracepoint),
		Frames: t.Frames, Steps: t.Steps, Bytes: t.Bytes, First: t.First, Last: t.Last,
		Values: []measuredObject{},
	}
	if t.PCs > 0 {
		object.PC = &pcObject{t.PCs, t.Low.String(), t.High.String()}
	}
	if t.Timed > 0 {
		rate, _ := t.Rate()
		object.Time = &timeObject{t.Timed, t.Start, t.End, rate}
	}
	for i, text := range s.exprs {
		object.Values = append(object.Values, measured(text, &t.Values[i]))
	}
	return object
}

func measured(name string, m *survey.Measured) measuredObject {
	object := measuredObject{
		Value: name, Count: m.Count, Lacking: m.Lacking, Exact: m.Exact(),
		Percentiles: map[string]json.RawMessage{}, Histogram: []binObject{},
	}
	if m.Count == 0 {
		return object
	}
	mean := m.Mean()
	object.Min, object.Max, object.Mean = valueJSON(m.Min), valueJSON(m.Max), &mean
	for i, value := range m.Percentiles(percentages...) {
		object.Percentiles[strconv.Itoa(percentages[i])] = valueJSON(value)
	}
	for _, bin := range m.Histogram() {
		object.Histogram = append(object.Histogram, binObject{valueJSON(bin.Low), valueJSON(bin.High), bin.Count})
	}
	for _, t := range m.Texts.Frequent() {
		object.Texts = append(object.Texts, textObject{t.Text, t.Count})
	}
	return object
}

// valueJSON gives a value as JSON: a number, or of a pointer a string in hexadecimal.
func valueJSON(v ctype.Number) json.RawMessage {
	if v.Type.Kind == ctype.Pointer {
		return json.RawMessage(`"` + v.String() + `"`)
	}
	return json.RawMessage(v.String())
}
