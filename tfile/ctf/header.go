package ctf

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
)

// lines returns the definition lines of the header as a trace file has them, but for the R line: the length of a register
// block follows from the declaration of the event.
func lines(h *tfile.Header) []string { return append(h.Lines()[1:], h.Other...) }

// restore takes the header from the definition lines in an env block, and reports whether there were any. The error is a
// *MetadataError.
func (t *Trace) restore(env []setting) (bool, error) {
	file := []byte(tfile.Magic)
	settings := make(map[int64]setting) // by the offset of their line
	refuse := func(s setting, found string) (bool, error) {
		return false, &MetadataError{s.line, found, "a definition line of a trace file"}
	}
	for _, s := range env {
		if !strings.HasPrefix(s.name, definitionPrefix) {
			continue
		}
		if s.text == "" || strings.Contains(s.text, "\n") {
			return refuse(s, token{kind: tokenString, text: s.text}.String())
		}
		settings[int64(len(file))] = s
		file = append(append(file, s.text...), '\n')
	}
	if len(settings) == 0 {
		return false, nil
	}
	f, err := tfile.OpenBytes(append(file, "\n\x00\x00"...), tfile.WithOrder(t.layout.order))
	if err != nil {
		return refuse(env[len(env)-1], err.Error())
	}
	for _, found := range f.Findings() {
		if s, ok := settings[found.Offset]; ok && found.Rule == tfile.RuleBadLine {
			return refuse(s, found.Text)
		}
	}
	t.header = f.Header()
	t.header.RegisterSize = t.layout.registerSize
	return true, nil
}

// define reads the definitions in the first packet.
func (t *Trace) define(h packetHead) error {
	packet, err := read(t.stream, nil, 0, int(h.content))
	if err != nil {
		return err
	}
	d := &definitions{Header: &t.header}
	e := events{layout: t.layout, content: packet, at: h.events}
	for e.more() {
		c, values, err := e.next()
		if err != nil {
			t.findings = append(t.findings, tfile.Finding{Offset: int64(e.from), Rule: RuleEvent, Text: err.Error()})
			return nil
		}
		if c.role == nil || c.role.define == nil {
			continue
		}
		if err := c.role.define(d, values); err != nil {
			t.findings = append(t.findings, tfile.Finding{Offset: int64(e.from), Rule: RuleEvent,
				Text: fmt.Sprintf("event %s: %v", c.name, err)})
		}
	}
	return nil
}

// definitions is a header in the making. Each of its methods takes the values of one event.
type definitions struct {
	*tfile.Header
	variables trace.Variables
}

// statusFields are the values that status takes.
var statusFields = []wanted{
	{"stop_reason", shapeNumber}, {"stopping_tracepoint", shapeNumber},
	{"traceframe_count", shapeNumber}, {"traceframes_created", shapeNumber}, {"buffer_free", shapeNumber}, {"buffer_size",
		shapeNumber},
	{"disconnected_tracing", shapeNumber}, {"circular_buffer", shapeNumber},
}

// untold is the status that is written when there is none.
var untold = trace.Status{Reason: trace.ReasonUnknown, Frames: -1, Created: -1, Free: -1, Size: -1}

func (d *definitions) status(v []value) error {
	reason := v[0].number
	if reason >= uint64(len(stopReasons)) {
		return fmt.Errorf("found a stop reason of %d, expected one of 0 to %d", int64(reason), len(stopReasons)-1)
	}
	st := &trace.Status{Reason: stopReasons[reason]}
	if st.Reason == trace.ReasonPassCount || st.Reason == trace.ReasonError {
		st.Tracepoint = trace.Number(min(v[1].number, math.MaxInt32))
	}
	for i, count := range []*int64{&st.Frames, &st.Created, &st.Free, &st.Size} {
		*count = max(-1, int64(v[2+i].number))
	}
	st.Disconnected, st.Circular = v[6].number != 0, v[7].number != 0
	if *st != untold {
		d.Status = st
	}
	return nil
}

// variableFields are the values that variable takes.
var variableFields = []wanted{{"number", shapeNumber}, {"initial_value", shapeNumber}, {"builtin", shapeNumber},
	{"name", shapeText}}

func (d *definitions) variable(v []value) error {
	n := v[0].number
	if n > math.MaxUint16 {
		return fmt.Errorf("found a variable of number %d, expected at most %d", int64(n), math.MaxUint16)
	}
	d.variables.Add(trace.Variable{
		Number:  trace.VariableNumber(n),
		Initial: int64(v[1].number),
		Builtin: v[2].number != 0,
		Name:    string(v[3].bytes),
	})
	d.Variables = d.variables.List()
	return nil
}

// tracepointFields are the values that tracepoint takes.
var tracepointFields = []wanted{
	{"number", shapeNumber}, {"addr", shapeNumber}, {"enabled", shapeNumber}, {"type", shapeNumber},
	{"step", shapeNumber}, {"pass", shapeNumber}, {"hit_count", shapeNumber}, {"traceframe_usage", shapeNumber},
	{"cond", shapeText}, {"actions", shapeTexts}, {"step_actions", shapeTexts},
	{"at_string", shapeText}, {"cond_string", shapeText}, {"cmd_strings", shapeTexts},
}

func (d *definitions) tracepoint(v []value) error {
	if n := v[0].number; n > math.MaxInt32 {
		return fmt.Errorf("found a tracepoint of number %d, expected at most %d", int64(n), math.MaxInt32)
	}
	for i := 4; i <= 6; i++ {
		if n := int64(v[i].number); n < 0 {
			return fmt.Errorf("found a %s of %d, expected 0 or more", tracepointFields[i].name, n)
		}
	}
	t := trace.Tracepoint{
		Number:  trace.Number(v[0].number),
		Addr:    arch.Addr(v[1].number),
		Enabled: v[2].number != 0,
		Fast:    v[3].number == typeFast,
		Static:  v[3].number == typeStatic,
		Step:    v[4].number,
		Pass:    v[5].number,
		Hits:    v[6].number,
		Usage:   v[7].number,
		Source:  trace.Source{At: string(v[11].bytes), Cond: string(v[12].bytes), Commands: split(v[13])},
	}
	var err error
	if t.Condition, err = condition(v[8].bytes); err != nil {
		return err
	}
	if t.Actions, err = actions(v[9]); err != nil {
		return err
	}
	if t.StepActions, err = actions(v[10]); err != nil {
		return err
	}
	d.Tracepoints = append(d.Tracepoints, t)
	return nil
}

// condition reads the bytecode of a condition, nil for none.
func condition(digits []byte) ([]byte, error) {
	if len(digits) == 0 {
		return nil, nil
	}
	code := make([]byte, hex.DecodedLen(len(digits)))
	if _, err := hex.Decode(code, digits); err != nil {
		return nil, fmt.Errorf("condition: %w", err)
	}
	return code, nil
}

// split returns the elements of an array of strings.
func split(v value) []string {
	if v.number == 0 {
		return nil
	}
	list := make([]string, 0, v.number)
	for text := range bytes.SplitAfterSeq(v.bytes, []byte{0}) {
		if len(text) > 0 {
			list = append(list, string(text[:len(text)-1]))
		}
	}
	return list
}

func actions(v value) ([]trace.Action, error) {
	var all []trace.Action
	for _, text := range split(v) {
		list, err := trace.ParseActions(text)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}
