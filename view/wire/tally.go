package wire

import (
	"encoding/json"
	"strconv"

	"tracewell/symbol/ctype"
	"tracewell/view/tally"
)

// The object of "record" and "show" with --count-by, --histogram and the like, one for each interval and one at the end.
type (
	// Tally is what all hits come to so far.
	Tally struct {
		Seconds  float64      `json:"seconds"`            // since the first hit by $trace_timestamp, in record since the start; 0 if not known
		Interval float64      `json:"interval,omitempty"` // seconds since the object before; absent in the last one, which is about all
		Hits     int          `json:"hits"`               // with those of dropped keys
		Recent   int          `json:"recent"`             // of these, since the object before
		By       []string     `json:"by"`                 // what the keys are of
		Keys     int          `json:"keys"`               // different ones that are known
		Dropped  int          `json:"dropped"`            // hits with keys that were dropped because there were too many
		Groups   []TallyGroup `json:"groups"`             // the first of them, the most frequent or those with the greatest sum first
	}
	// TallyGroup is the hits with one key.
	TallyGroup struct {
		Key    []json.RawMessage `json:"key"`             // a number or a string for each of "by"; null where a hit lacks it
		Hits   int               `json:"hits"`            // with this key
		Recent int               `json:"recent"`          // since the object before
		Short  int               `json:"short,omitempty"` // earlier hits that may have been dropped with this key, at most; absent for 0
		Values []TallyValue      `json:"values"`          // of the options, in their order
	}
	// TallyValue is the values of an expression.
	TallyValue struct {
		Value       string                     `json:"value"`                 // the expression
		Count       int                        `json:"count"`                 // hits that have it
		Sum         json.RawMessage            `json:"sum"`                   // a number, exact also beyond 64 bits
		Mean        *float64                   `json:"mean"`                  // null without a value
		Min         json.RawMessage            `json:"min"`                   // null without a value
		Max         json.RawMessage            `json:"max"`                   // null without a value
		Percentiles map[string]json.RawMessage `json:"percentiles,omitempty"` // of --quantiles, by the percentage
		Exact       bool                       `json:"exact"`                 // the percentiles; else within 1 %
		Histogram   []TallyBucket              `json:"histogram,omitempty"`   // of --histogram
	}
	// TallyBucket is how many values lie between two, both included.
	TallyBucket struct {
		Low   json.RawMessage `json:"low"`   // null for all that is less than the histogram
		High  json.RawMessage `json:"high"`  // null for all that is greater
		Count int             `json:"count"` // values
	}
)

// DescribeTallied describes the values of an expression in a group, with the percentiles that are asked for.
func DescribeTallied(name string, percentages []int, m *tally.Measured) TallyValue {
	object := TallyValue{Value: name, Count: m.Count, Sum: json.RawMessage(m.Sum().String()), Exact: true}
	if m.Count == 0 {
		return object
	}
	mean := m.Mean()
	object.Mean, object.Min, object.Max = &mean, numberJSON(m.Min), numberJSON(m.Max)
	values, exact := m.Quantiles(percentages...)
	object.Exact = exact
	for i, v := range values {
		if object.Percentiles == nil {
			object.Percentiles = make(map[string]json.RawMessage)
		}
		object.Percentiles[strconv.Itoa(percentages[i])] = numberJSON(v)
	}
	for _, b := range m.Buckets() {
		object.Histogram = append(object.Histogram, TallyBucket{bound(b.Low, b.NoLow), bound(b.High, b.NoHigh), b.Count})
	}
	return object
}

// bound is one end of a bucket.
func bound(v ctype.Number, none bool) json.RawMessage {
	if none {
		return nil
	}
	return numberJSON(v)
}
