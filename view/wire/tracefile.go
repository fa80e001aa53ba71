package wire

import (
	"encoding/hex"

	"tracewell/arch"
	"tracewell/tfile"
	"tracewell/trace"
	"tracewell/view"
)

// FormatVersion is the version of the trace file format, of which there is one.
const FormatVersion = 0

// The objects of "info --json". Programs rely on these names and their meaning; fields may be added. Addresses are strings in
// hexadecimal, and what the file does not tell is null.
type (
	// File is what "info --json" writes.
	File struct {
		Version           int          `json:"version"`                 // of the trace file format: 0
		Size              int64        `json:"size"`                    // bytes, unpacked
		DefinitionsSize   int64        `json:"definitionsSize"`         // bytes, with the lines before and behind them
		FramesSize        int64        `json:"framesSize"`              // bytes
		RestSize          int64        `json:"restSize"`                // bytes: the end marker, and what follows it or cannot be read
		RegisterBlockSize int          `json:"registerBlockSize"`       // bytes of the R line, or as the frames have it
		RegisterBlockFrom string       `json:"registerBlockSizeSource"` // where the size is from, in words
		ByteOrder         string       `json:"byteOrder"`
		ByteOrderSource   string       `json:"byteOrderSource"`  // where the order is from, in words
		Frames            int          `json:"frames"`           // that can be read
		Target            *Target      `json:"target"`           // null without a target description
		Loaded            []Loaded     `json:"loaded,omitempty"` // of files that record wrote, the program first
		Tracepoints       []Tracepoint `json:"tracepoints"`
		Variables         []Variable   `json:"variables"`
		Status            *Status      `json:"status"`          // null without a status line
		Findings          []Finding    `json:"findings"`        // what opening the file came upon; check finds more
		Error             string       `json:"error,omitempty"` // why the rest of the file cannot be read
	}
	// Loaded is a file of the program, and where it was loaded.
	Loaded struct {
		Path string `json:"path"`
		Bias string `json:"bias"` // its address in the process less that in its file
	}
	// Target sums up the target description.
	Target struct {
		Architecture string   `json:"architecture"`
		OSABI        string   `json:"osabi"`
		Features     []string `json:"features"`
		Registers    int      `json:"registers"`         // how many
		BlockSize    int      `json:"registerBlockSize"` // bytes by the description; the register block of frames may be shorter
	}
	// Tracepoint is the definition of a tracepoint at one location.
	Tracepoint struct {
		Number      trace.Number `json:"number"` // GDB's number of it
		Address     string       `json:"address"`
		Symbol      string       `json:"symbol,omitempty"` // of the address: NAME or NAME+OFFSET; absent without the program
		Source      string       `json:"source"`           // as its user set it; empty if the file does not tell
		Enabled     bool         `json:"enabled"`
		Fast        bool         `json:"fast"`
		Static      bool         `json:"static"`
		Step        uint64       `json:"step"`      // steps after a hit, of while-stepping; 0 for none
		Pass        uint64       `json:"pass"`      // hits after which the run ends; 0 for no limit
		Condition   *Expression  `json:"condition"` // null if unconditional
		Commands    []string     `json:"commands"`  // source of the actions, as GDB's commands
		Actions     []Action     `json:"actions"`
		StepActions []Action     `json:"stepActions"`
		Hits        uint64       `json:"hits"`   // of this location, as the file tells
		Usage       uint64       `json:"usage"`  // bytes of the trace buffer, as the file tells
		Frames      int          `json:"frames"` // in the file, of all locations of the number
	}
	// Expression is a condition: its source if that is known, and its bytecode.
	Expression struct {
		Source      string `json:"source"`
		Bytecode    string `json:"bytecode"` // in hexadecimal
		Disassembly string `json:"disassembly"`
	}
	// Action is what a tracepoint collects.
	Action struct {
		Action string `json:"action"` // as in a packet
		Text   string `json:"text"`
	}
	// Variable is the definition of a trace state variable.
	Variable struct {
		Number  trace.VariableNumber `json:"number"` // as collected frames have it
		Name    string               `json:"name"`
		Initial int64                `json:"initial"` // value at the start of a run
		Builtin bool                 `json:"builtin"` // the server sets it
	}
	// Status is how the run stood when the file was written. A number that the file does not have is null.
	Status struct {
		Running      bool             `json:"running"`
		Reason       trace.StopReason `json:"reason"`
		Text         string           `json:"text"` // of reason and description, for people
		Description  string           `json:"description"`
		Tracepoint   trace.Number     `json:"tracepoint"` // whose pass count ended the run; 0 otherwise
		Frames       *int64           `json:"frames"`     // in the trace buffer
		Created      *int64           `json:"created"`    // in all, with those that a circular buffer has dropped
		BufferFree   *int64           `json:"bufferFree"` // bytes
		BufferSize   *int64           `json:"bufferSize"` // bytes
		Circular     bool             `json:"circular"`
		Disconnected bool             `json:"disconnected"` // the run goes on without a client
		StartTime    *uint64          `json:"startTime"`    // microseconds
		StopTime     *uint64          `json:"stopTime"`     // microseconds
		User         string           `json:"user"`
		Notes        string           `json:"notes"`
	}
	// Finding is a breach of a rule for trace files. Only check tells line, frame and count.
	Finding struct {
		Offset   int64  `json:"offset"`          // bytes from the start of the file
		Line     int    `json:"line,omitempty"`  // of a definition, from 1; absent in frames
		Frame    *int   `json:"frame,omitempty"` // the first that breaks the rule, from 0; absent in the definitions
		Rule     string `json:"rule"`
		Severity string `json:"severity"` // what GDB does: odd, misreads, refuses or crashes
		Text     string `json:"text"`
		Count    int    `json:"count,omitempty"` // lines or frames that break the rule
		Advice   string `json:"advice"`
	}
)

// DescribeFile describes a trace file of so many bytes, unpacked. The view is of the file, and not of frames from elsewhere. Damage
// is why the rest of the file cannot be read, nil if all of it can.
func DescribeFile(v *view.View, size int64, damage error) File {
	file := v.File
	header := file.Header()
	parts := SizesOf(file, size)
	object := File{
		Version:           FormatVersion,
		Size:              size,
		DefinitionsSize:   parts.Definitions,
		FramesSize:        parts.Frames,
		RestSize:          parts.Rest,
		RegisterBlockSize: header.RegisterSize,
		RegisterBlockFrom: file.RegisterSizeSource().String(),
		ByteOrder:         arch.OrderName(header.Order),
		ByteOrderSource:   file.OrderSource().String(),
		Frames:            file.NumFrames(),
		Target:            describeTarget(v),
		Tracepoints:       []Tracepoint{},
		Variables:         []Variable{},
		Status:            describeStatus(header.Status),
		Findings:          []Finding{},
	}
	for _, o := range tfile.Objects(header.Description) {
		object.Loaded = append(object.Loaded, Loaded{o.Path, o.Bias.String()})
	}
	frames := v.FramesByTracepoint()
	for _, tracepoint := range view.ByNumber(header.Tracepoints) {
		object.Tracepoints = append(object.Tracepoints, DescribeTracepoint(v, &tracepoint, frames[tracepoint.Number]))
	}
	for _, known := range header.Variables {
		object.Variables = append(object.Variables, DescribeVariable(known))
	}
	for _, f := range file.Findings() {
		object.Findings = append(object.Findings, describeFinding(f))
	}
	if damage != nil {
		object.Error = damage.Error()
	}
	return object
}

// DescribeVariable describes a trace state variable as a file defines it.
func DescribeVariable(v trace.Variable) Variable {
	return Variable{v.Number, v.Name, v.Initial, v.Builtin}
}

// Sizes are the bytes of the parts of a file.
type Sizes struct {
	Definitions int64 // with the lines that begin and end them
	Frames      int64
	Rest        int64 // the end marker, and what is behind it or cannot be read
}

// SizesOf takes a file of so many bytes apart. A frame that cannot be read counts as rest.
func SizesOf(file *tfile.File, size int64) Sizes {
	s := Sizes{Definitions: file.End()}
	if count := file.NumFrames(); count > 0 {
		first, err := file.Frame(0)
		last, lastErr := file.Frame(count - 1)
		if err == nil && lastErr == nil {
			s.Definitions = first.Offset()
			s.Frames = last.Offset() + int64(len(last.Bytes())) - first.Offset()
		}
	}
	s.Rest = max(size-s.Definitions-s.Frames, 0)
	return s
}

func describeTarget(v *view.View) *Target {
	if v.Target == nil {
		return nil
	}
	object := &Target{
		Architecture: v.Target.Architecture,
		OSABI:        v.Target.OSABI,
		Features:     []string{},
		Registers:    len(v.Layout.Slots),
		BlockSize:    v.Layout.Size,
	}
	for _, f := range v.Target.Features {
		object.Features = append(object.Features, f.Name)
	}
	return object
}

// DescribeTracepoint describes a tracepoint at one location, of whose number the trace has so many frames.
func DescribeTracepoint(v *view.View, t *trace.Tracepoint, frames int) Tracepoint {
	object := Tracepoint{
		Number:      t.Number,
		Address:     t.Addr.String(),
		Symbol:      v.Describe(t.Addr),
		Source:      t.Source.At,
		Enabled:     t.Enabled,
		Fast:        t.Fast,
		Static:      t.Static,
		Step:        t.Step,
		Pass:        t.Pass,
		Commands:    append([]string{}, t.Source.Commands...),
		Actions:     describeActions(v, t.Actions),
		StepActions: describeActions(v, t.StepActions),
		Hits:        t.Hits,
		Usage:       t.Usage,
		Frames:      frames,
	}
	if t.Condition != nil || t.Source.Cond != "" {
		object.Condition = &Expression{t.Source.Cond, hex.EncodeToString(t.Condition), view.Disassembly(t.Condition)}
	}
	return object
}

func describeActions(v *view.View, actions []trace.Action) []Action {
	objects := []Action{}
	for _, a := range actions {
		objects = append(objects, Action{a.String(), v.ActionText(a)})
	}
	return objects
}

func describeStatus(s *trace.Status) *Status {
	if s == nil {
		return nil
	}
	return &Status{
		Running:      s.Running,
		Reason:       s.Reason,
		Text:         view.StateText(s),
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
