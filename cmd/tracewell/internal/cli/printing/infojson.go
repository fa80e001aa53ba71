package printing

import (
	"encoding/hex"

	"tracewell/arch"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/frameview"
	"tracewell/tfile"
	"tracewell/trace"
)

// FormatVersion is the version of the trace file format, of which there is one.
const FormatVersion = 0

// The objects of "info --json". Programs rely on these names and their meaning; fields may be added. Addresses are strings in
// hexadecimal, and what the file does not tell is null.
type (
	fileObject struct {
		Version           int                `json:"version"`
		Size              int64              `json:"size"`
		DefinitionsSize   int64              `json:"definitionsSize"`
		FramesSize        int64              `json:"framesSize"`
		RestSize          int64              `json:"restSize"` // the end marker, and what is behind it or cannot be read
		RegisterBlockSize int                `json:"registerBlockSize"`
		RegisterBlockFrom string             `json:"registerBlockSizeSource"`
		ByteOrder         string             `json:"byteOrder"`
		ByteOrderSource   string             `json:"byteOrderSource"`
		Frames            int                `json:"frames"`
		Target            *targetObject      `json:"target"`
		Loaded            []loadedObject     `json:"loaded,omitempty"` // of files that record wrote, the program first
		Tracepoints       []TracepointObject `json:"tracepoints"`
		Variables         []VariableObject   `json:"variables"`
		Status            *statusObject      `json:"status"`
		Findings          []findingObject    `json:"findings"`
		Error             string             `json:"error,omitempty"` // why the rest of the file cannot be read
	}
	loadedObject struct {
		Path string `json:"path"`
		Bias string `json:"bias"` // how far above where its file has it
	}
	targetObject struct {
		Architecture string   `json:"architecture"`
		OSABI        string   `json:"osabi"`
		Features     []string `json:"features"`
		Registers    int      `json:"registers"`
		BlockSize    int      `json:"registerBlockSize"` // by the description; that of the frames is the file's
	}
	// TracepointObject is one location of a tracepoint.
	TracepointObject struct {
		Number      trace.Number   `json:"number"`
		Address     string         `json:"address"`
		Symbol      string         `json:"symbol,omitempty"`
		Source      string         `json:"source"`
		Enabled     bool           `json:"enabled"`
		Fast        bool           `json:"fast"`
		Static      bool           `json:"static"`
		Step        uint64         `json:"step"`
		Pass        uint64         `json:"pass"`
		Condition   *exprObject    `json:"condition"`
		Commands    []string       `json:"commands"`
		Actions     []actionObject `json:"actions"`
		StepActions []actionObject `json:"stepActions"`
		Hits        uint64         `json:"hits"`
		Usage       uint64         `json:"usage"`
		Frames      int            `json:"frames"` // in the file, of all locations of the number
	}
	exprObject struct {
		Source      string `json:"source"`
		Bytecode    string `json:"bytecode"`
		Disassembly string `json:"disassembly"`
	}
	actionObject struct {
		Action string `json:"action"` // as in a packet
		Text   string `json:"text"`
	}
	// VariableObject is a trace state variable.
	VariableObject struct {
		Number  trace.VariableNumber `json:"number"`
		Name    string               `json:"name"`
		Initial int64                `json:"initial"`
		Builtin bool                 `json:"builtin"`
	}
	statusObject struct {
		Running      bool             `json:"running"`
		Reason       trace.StopReason `json:"reason"`
		Text         string           `json:"text"`
		Description  string           `json:"description"`
		Tracepoint   trace.Number     `json:"tracepoint"`
		Frames       *int64           `json:"frames"`
		Created      *int64           `json:"created"`
		BufferFree   *int64           `json:"bufferFree"`
		BufferSize   *int64           `json:"bufferSize"`
		Circular     bool             `json:"circular"`
		Disconnected bool             `json:"disconnected"`
		StartTime    *uint64          `json:"startTime"` // microseconds
		StopTime     *uint64          `json:"stopTime"`
		User         string           `json:"user"`
		Notes        string           `json:"notes"`
	}
	findingObject struct {
		Offset   int64  `json:"offset"`
		Rule     string `json:"rule"`
		Severity string `json:"severity"`
		Text     string `json:"text"`
		Advice   string `json:"advice"`
	}
)

// Describe makes the object of a file.
func Describe(t *input.TraceFile) fileObject {
	file := t.View.File
	header := file.Header()
	parts := SizesOf(t)
	object := fileObject{
		Version:           FormatVersion,
		Size:              t.Size,
		DefinitionsSize:   parts.Definitions,
		FramesSize:        parts.Frames,
		RestSize:          parts.Rest,
		RegisterBlockSize: header.RegisterSize,
		RegisterBlockFrom: file.RegisterSizeSource().String(),
		ByteOrder:         arch.OrderName(header.Order),
		ByteOrderSource:   file.OrderSource().String(),
		Frames:            file.NumFrames(),
		Target:            describeTarget(t.View),
		Tracepoints:       []TracepointObject{},
		Variables:         []VariableObject{},
		Status:            describeStatus(header.Status),
		Findings:          []findingObject{},
	}
	for _, o := range tfile.Objects(header.Description) {
		object.Loaded = append(object.Loaded, loadedObject{o.Path, o.Bias.String()})
	}
	frames := t.FramesByTracepoint()
	for _, tracepoint := range ByNumber(header.Tracepoints) {
		object.Tracepoints = append(object.Tracepoints, DescribeTracepoint(t.View, &tracepoint, frames[tracepoint.Number]))
	}
	for _, v := range header.Variables {
		object.Variables = append(object.Variables, VariableObject{v.Number, v.Name, v.Initial, v.Builtin})
	}
	for _, f := range file.Findings() {
		object.Findings = append(object.Findings, findingObject{f.Offset, f.Rule.Name, f.Rule.Severity.String(), f.Text, f.Rule.Advice})
	}
	if t.Err != nil {
		object.Error = t.Err.Error()
	}
	return object
}

func describeTarget(view *frameview.View) *targetObject {
	if view.Target == nil {
		return nil
	}
	object := &targetObject{
		Architecture: view.Target.Architecture,
		OSABI:        view.Target.OSABI,
		Features:     []string{},
		Registers:    len(view.Layout.Slots),
		BlockSize:    view.Layout.Size,
	}
	for _, f := range view.Target.Features {
		object.Features = append(object.Features, f.Name)
	}
	return object
}

// DescribeTracepoint makes the object of a tracepoint that has so many frames.
func DescribeTracepoint(view *frameview.View, t *trace.Tracepoint, frames int) TracepointObject {
	object := TracepointObject{
		Number:      t.Number,
		Address:     t.Addr.String(),
		Symbol:      view.Describe(t.Addr),
		Source:      t.Source.At,
		Enabled:     t.Enabled,
		Fast:        t.Fast,
		Static:      t.Static,
		Step:        t.Step,
		Pass:        t.Pass,
		Commands:    append([]string{}, t.Source.Commands...),
		Actions:     describeActions(view, t.Actions),
		StepActions: describeActions(view, t.StepActions),
		Hits:        t.Hits,
		Usage:       t.Usage,
		Frames:      frames,
	}
	if t.Condition != nil || t.Source.Cond != "" {
		object.Condition = &exprObject{t.Source.Cond, hex.EncodeToString(t.Condition), disassembly(t.Condition)}
	}
	return object
}

func describeActions(view *frameview.View, actions []trace.Action) []actionObject {
	objects := []actionObject{}
	for _, a := range actions {
		objects = append(objects, actionObject{a.String(), actionText(view, a)})
	}
	return objects
}

func describeStatus(s *trace.Status) *statusObject {
	if s == nil {
		return nil
	}
	return &statusObject{
		Running:      s.Running,
		Reason:       s.Reason,
		Text:         stateText(s),
		Description:  s.Description,
		Tracepoint:   s.Tracepoint,
		Frames:       Told(s.Frames, s.Frames >= 0),
		Created:      Told(s.Created, s.Created >= 0),
		BufferFree:   Told(s.Free, s.Free >= 0),
		BufferSize:   Told(s.Size, s.Size >= 0),
		Circular:     s.Circular,
		Disconnected: s.Disconnected,
		StartTime:    Told(s.StartTime, s.StartTime != 0),
		StopTime:     Told(s.StopTime, s.StopTime != 0),
		User:         s.User,
		Notes:        s.Notes,
	}
}

// Told makes null of a value that the file does not tell.
func Told[T any](value T, known bool) *T {
	if !known {
		return nil
	}
	return &value
}
