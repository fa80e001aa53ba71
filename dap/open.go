package dap

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tracewell/arch"
	"tracewell/internal/packed"
	"tracewell/internal/text"
	"tracewell/itrace"
	"tracewell/itrace/dialects"
	"tracewell/itrace/execution"
	"tracewell/symbol"
	"tracewell/target/replay"
	"tracewell/tfile"
	"tracewell/tfile/ctf"
	"tracewell/tfile/tracetext"
	"tracewell/view"
)

// launchArguments are those of launch and attach, as a user writes them in a configuration of the editor.
type launchArguments struct {
	Program   string            `json:"program"`   // its file
	SourceMap map[string]string `json:"sourceMap"` // prefixes of paths in debug information, and what they are here

	// LogPoints are log points at places that no line of a source names: functions of libraries, of programs without debug
	// information, addresses, static tracepoints.
	LogPoints []logPoint `json:"logPoints"`

	// Recordings.
	Trace    string `json:"trace"` // a trace file or an execution trace
	Dialect  string `json:"dialect"`
	Arch     string `json:"arch"`
	Endian   string `json:"endian"`
	Index    string `json:"index"`    // "beside", "memory" or "anew"
	Backfill bool   `json:"backfill"` // as of replay

	// Programs that run.
	Args        []string    `json:"args"`
	Env         environment `json:"env"`
	Cwd         string      `json:"cwd"`
	StopOnEntry *bool       `json:"stopOnEntry"`
	StopOnExit  *bool       `json:"stopOnExit"`
	PID         processID   `json:"pid"`
	Output      string      `json:"output"` // a trace file that keeps all frames
	Follow      bool        `json:"follow"`
	Stack       *int        `json:"stack"` // bytes of it that breakpoints collect; 0 for none
	Traps       bool        `json:"traps"` // as record --traps
}

// logPoint is one of them.
type logPoint struct {
	Location     string `json:"location"` // as of record --at
	Message      string `json:"message"`
	Condition    string `json:"condition"`
	HitCondition string `json:"hitCondition"`
}

// processID is the number of a process: a number, or a text as editors have it that let their users choose one.
type processID int

// UnmarshalJSON implements json.Unmarshaler.
func (p *processID) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) != nil {
		return json.Unmarshal(b, (*int)(p))
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		return fmt.Errorf("pid %q is no number", text)
	}
	*p = processID(n)
	return nil
}

// environment is variables: an object as most clients send, in which null removes one, or a list of "NAME=value".
type environment map[string]*string

// UnmarshalJSON implements json.Unmarshaler.
func (e *environment) UnmarshalJSON(b []byte) error {
	var list []string
	if json.Unmarshal(b, &list) != nil {
		return json.Unmarshal(b, (*map[string]*string)(e))
	}
	*e = make(environment)
	for _, entry := range list {
		name, value, _ := strings.Cut(entry, "=")
		(*e)[name] = &value
	}
	return nil
}

// over is an environment with these variables in place of its own.
func (e environment) over(own []string) (all []string) {
	for _, entry := range own {
		name, _, _ := strings.Cut(entry, "=")
		if _, changed := e[name]; !changed {
			all = append(all, entry)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e)) {
		if value := e[name]; value != nil {
			all = append(all, name+"="+*value)
		}
	}
	return all
}

// stopsOnEntry reports whether the client wants to see the beginning. A recording is there to be looked at, a program to run.
func (a *launchArguments) stopsOnEntry() bool {
	if a.StopOnEntry != nil {
		return *a.StopOnEntry
	}
	return a.Trace != ""
}

// openRecording opens a trace file, a trace in CTF or an execution trace, whichever the file is.
func (s *session) openRecording(a *launchArguments) (debuggee, error) {
	if holdsCTF(a.Trace) {
		return s.openCTF(a)
	}
	file, err := openPacked(a.Trace)
	if err != nil {
		return nil, err
	}
	d, err := s.openFile(a, file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return d, nil
}

// packedFile is a file, unpacked if it is compressed.
type packedFile struct {
	*packed.File
	source *os.File
	path   string
}

// Close closes both.
func (f *packedFile) Close() error { return errors.Join(f.File.Close(), f.source.Close()) }

func openPacked(path string) (*packedFile, error) {
	source, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &packedFile{source: source, path: path}
	if f.File, err = packed.Open(source, nil); err != nil {
		var damage *packed.DamageError
		if f.File == nil || !errors.As(err, &damage) {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), source.Close())
		}
	}
	return f, nil
}

// headBytes is how much of a file tells what it is, beside execution traces.
const headBytes = 64

// openFile finds out what a file is, and opens that.
func (s *session) openFile(a *launchArguments, file *packedFile) (debuggee, error) {
	head := make([]byte, itrace.DetectBytes)
	n, err := file.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	head = head[:n]
	switch {
	case a.Dialect != "":
		d, err := dialects.All.ByName(a.Dialect)
		if err != nil {
			return nil, err
		}
		return s.openExecution(a, file, d)
	case tracetext.Is(head[:min(n, headBytes)]):
		whole, err := packed.Gather(func(w io.Writer) error { return tracetext.Read(io.NewSectionReader(file, 0, file.Size()), w) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Trace, err)
		}
		return s.openTraceFile(a, whole, func() error { return errors.Join(whole.Close(), file.Close()) })
	case n > 0 && head[0] != tfile.Magic[0]:
		found := dialects.All.Detect(head)
		if found.Dialect == nil {
			return nil, fmt.Errorf("%s: not a trace file, and as an execution trace it %s", text.Visible(a.Trace),
				dialects.All.Undetected(head))
		}
		return s.openExecution(a, file, found.Dialect)
	}
	return s.openTraceFile(a, file.File, file.Close)
}

// openTraceFile opens a trace file. One that is damaged is shown as far as it is whole.
func (s *session) openTraceFile(a *launchArguments, file *packed.File, closeFile func() error) (debuggee, error) {
	f, err := tfile.Open(file, file.Size())
	if f == nil {
		return nil, fmt.Errorf("%s: %w", a.Trace, err)
	}
	if err != nil {
		s.say("stderr", "%s: %v", a.Trace, err)
	}
	return s.newTraceFile(a, f, closeFile)
}

// newTraceFile is the debuggee of a trace. The program is the one that the user names, or that which the file says was traced.
func (s *session) newTraceFile(a *launchArguments, content tfile.Content, closeFile func() error) (debuggee, error) {
	var program *symbol.Program
	var err error
	path := a.Program
	if path == "" {
		path = s.recordedProgram(content.Header())
	}
	if path != "" {
		if program, err = symbol.Open(path, symbol.Options{}); err != nil && a.Program != "" {
			return nil, err
		}
	}
	if content.NumFrames() == 0 {
		return nil, fmt.Errorf("%s has no frames", a.Trace)
	}
	v, warnings := view.New(content, program)
	for _, w := range warnings {
		s.say("console", "%s: %s", a.Trace, w)
	}
	return newTraceFile(v, s, func() error {
		if program != nil {
			return errors.Join(program.Close(), closeFile())
		}
		return closeFile()
	})
}

// recordedProgram is where the program is that a file says was traced, "" if it is not there, or not the same any more.
func (s *session) recordedProgram(h tfile.Header) string {
	objects := tfile.Objects(h.Description)
	if len(objects) == 0 {
		return ""
	}
	info, err := os.Stat(objects[0].Path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if h.Status == nil || info.ModTime().UnixMicro() > int64(h.Status.StartTime) {
		s.say("console", "no symbols: %s may have changed since it was traced; name it as program in the launch configuration",
			objects[0].Path)
		return ""
	}
	return objects[0].Path
}

// holdsCTF reports whether a path is a folder with a trace in the Common Trace Format.
func holdsCTF(path string) bool {
	metadata, err := os.ReadFile(filepath.Join(path, ctf.MetadataName))
	return err == nil && ctf.Is(metadata)
}

// openCTF opens such a folder.
func (s *session) openCTF(a *launchArguments) (debuggee, error) {
	metadata, err := os.ReadFile(filepath.Join(a.Trace, ctf.MetadataName))
	if err != nil {
		return nil, err
	}
	stream, err := os.Open(filepath.Join(a.Trace, ctf.StreamName))
	if err != nil {
		return nil, err
	}
	info, err := stream.Stat()
	if err != nil {
		return nil, errors.Join(err, stream.Close())
	}
	t, err := ctf.Open(metadata, stream, info.Size())
	if t == nil {
		return nil, errors.Join(err, stream.Close())
	}
	return s.newTraceFile(a, t, stream.Close)
}

// orders are the values of endian.
var orders = map[string]arch.ByteOrder{"": nil, "auto": nil, "little": binary.LittleEndian, "big": binary.BigEndian}

// keeps are the values of index.
var keeps = map[string]execution.KeepIndex{
	"": execution.Beside, "beside": execution.Beside, "memory": execution.InMemory, "anew": execution.Anew,
}

// openExecution opens an execution trace.
func (s *session) openExecution(a *launchArguments, file *packedFile, d *itrace.Dialect) (debuggee, error) {
	order, ok := orders[a.Endian]
	keep, kept := keeps[a.Index]
	if !ok || !kept {
		return nil, errors.New("endian is little or big, index is beside, memory or anew")
	}
	var program *symbol.Program
	var err error
	if a.Program != "" {
		if program, err = symbol.Open(a.Program, symbol.Options{}); err != nil {
			return nil, err
		}
	}
	o := replay.ExecutionOptions{Options: execution.Options{Arch: a.Arch, Order: order, Keep: keep, Context: s.handles.ctx},
		Path: a.Program, Backfill: a.Backfill}
	source := execution.Source{Name: a.Trace, Content: file, Size: file.Size()}
	if info, err := file.source.Stat(); err == nil && info.Mode().IsRegular() {
		source.Path, source.Status, source.Stored = file.path, info, file.source
	}
	e, notes, err := replay.NewExecution(source, d, o)
	for _, n := range notes {
		s.say("console", "%s: %s", a.Trace, n)
	}
	if err != nil {
		if program != nil {
			err = errors.Join(err, program.Close())
		}
		return nil, fmt.Errorf("%s: %w", cmp.Or(a.Trace, "trace"), err)
	}
	return newExecution(e, program, s, func() error {
		err := errors.Join(e.Close(), file.Close())
		if program != nil {
			err = errors.Join(err, program.Close())
		}
		return err
	})
}

// stackBytes is how many bytes of the stack a breakpoint collects.
func (a *launchArguments) stackBytes() int {
	if a.Stack != nil {
		return *a.Stack
	}
	return usualStack
}

// stopsOnExit reports whether the last hit is shown when the program has ended.
func (a *launchArguments) stopsOnExit() bool { return a.StopOnExit == nil || *a.StopOnExit }
