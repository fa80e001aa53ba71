package wire

import (
	"encoding/json"
	"math"
	"strconv"

	"tracewell/trace"
	"tracewell/view"
)

// The objects of a page that shows a trace file. Times are in microseconds since 1970, or as the stub of the file counts them; a
// position is a time if the page is Timed, and else the number of a frame.
type (
	// PageTrace sums up a trace file.
	PageTrace struct {
		Frames      int           `json:"frames"`  // in the file
		Timed       bool          `json:"timed"`   // positions are times
		First       int64         `json:"first"`   // position
		Last        int64         `json:"last"`    // position
		State       string        `json:"state"`   // how the run ended, in words; empty if the file does not tell
		Status      *Status       `json:"status"`  // null without a status line
		Program     string        `json:"program"` // the file that was traced; empty if not known
		Tracepoints []Tracepoint  `json:"tracepoints"`
		Threads     []PageThread  `json:"threads"` // by their first frames
		Items       []string      `json:"items"`   // names of what is collected, as the filter and plots take them
		Numbers     []string      `json:"numbers"` // of these, what has a number to plot
		Columns     []string      `json:"columns"` // that the table of frames can have, as convert writes them to CSV
		Sources     []SourceLines `json:"sources"`
		Stacks      bool          `json:"stacks"`             // some tracepoint collects the stack
		Error       string        `json:"error,omitempty"`    // why the rest of the file cannot be read
		Debuggee    *Debuggee     `json:"debuggee,omitempty"` // of a run that GDB controls; absent for a file
	}
	// Debuggee is what the program does that a page is shown beside.
	Debuggee struct {
		Running bool   `json:"running"`
		Text    string `json:"text"` // the same in words, and where it has stopped: "stopped at push+12, queue.c:23 (SIGTRAP)"
	}
	// PageThread is a thread that made frames.
	PageThread struct {
		Thread int    `json:"thread"`         // the number by which questions name it
		ID     int64  `json:"id"`             // of the system; 0 for frames that do not tell
		Name   string `json:"name,omitempty"` // the last one that is known; absent without one
		Frames int    `json:"frames"`         // that it made
	}
	// SourceLines is a source file that frames are of.
	SourceLines struct {
		SourceName
		Frames int `json:"frames"` // whose pc is in the file
	}

	// PageSearch says how far the frames have been searched for those that are wanted.
	PageSearch struct {
		Total   int    `json:"total"`             // found so far
		Done    bool   `json:"done"`              // there are no more
		Lacking string `json:"lacking,omitempty"` // what the filter asks of frames that do not have it
	}
	// PageRows is a block of the table of frames.
	PageRows struct {
		PageSearch
		Rows []PageRow `json:"rows"`
	}
	// PageRow is a row of the table. What is not known is absent.
	PageRow struct {
		Frame      int          `json:"frame"`               // from 0
		Tracepoint trace.Number `json:"tracepoint"`          // 0 for a frame that names none
		Source     string       `json:"source,omitempty"`    // of the tracepoint, as its user set it
		Time       *int64       `json:"time,omitempty"`      // microseconds; absent if the frame does not tell
		Thread     int          `json:"thread"`              // by PageTrace
		PC         string       `json:"pc,omitempty"`        // absent if the frame lacks it
		Symbol     string       `json:"symbol,omitempty"`    // of the pc; absent without the program
		Line       string       `json:"line,omitempty"`      // of the pc: FILE:LINE; absent without debugging information
		Stepped    bool         `json:"stepped,omitempty"`   // the frame is of while-stepping
		Collected  string       `json:"collected,omitempty"` // "j->id=7 q=0x4052a0", cut where it is long
		Cells      []string     `json:"cells,omitempty"`     // of the columns that were asked for, as in CSV, cut where they are long
		Damaged    bool         `json:"damaged,omitempty"`   // the rest of the frame cannot be read
	}
	// PagePlace is where a frame is among those that are wanted.
	PagePlace struct {
		PageSearch
		Row int `json:"row"` // of the first that is not before the frame; Total if all are
	}

	// PageFrame is one frame in full.
	PageFrame struct {
		Frame     json.RawMessage `json:"frame"`     // what show --json --diff prints of it (ChangedFrame)
		Time      *int64          `json:"time"`      // null if the frame does not tell
		Thread    int             `json:"thread"`    // by PageTrace
		Values    []PageValue     `json:"values"`    // collected, by name
		Variables []PageValue     `json:"variables"` // trace state variables, with their $
		File      *int            `json:"file"`      // of the pc: the source file; null if not known
		Line      int             `json:"line"`      // there
		Earlier   *int            `json:"earlier"`   // the frame before it of its tracepoint
		Later     *int            `json:"later"`     // the frame behind it of its tracepoint
		Changed   []string        `json:"changed"`   // names of values that differ from the earlier frame
		Position  int64           `json:"position"`  // of the frame, in a timeline
	}
	// PageValue is a value, and what it is made of.
	PageValue struct {
		Name     string      `json:"name"`
		Type     string      `json:"type,omitempty"`     // absent without debugging information
		Text     string      `json:"text"`               // as show --frame prints it; cut where it is long
		Children []PageValue `json:"children,omitempty"` // members, elements, what a pointer points to
		More     bool        `json:"more,omitempty"`     // there are children that are too deep, or too many
	}

	// PageTimeline is how many frames there were over positions.
	PageTimeline struct {
		From  int64      `json:"from"` // position where the first bin begins
		To    int64      `json:"to"`   // position where the last bin ends, excluded
		Bins  int        `json:"bins"` // how many there are
		Lanes []PageLane `json:"lanes"`
		Total int        `json:"total"` // frames
	}
	// PageLane is a thread or tracepoint of a timeline.
	PageLane struct {
		Key    int    `json:"key"` // PageThread.Thread or the number of a tracepoint; -1 for all others together
		Name   string `json:"name"`
		Total  int    `json:"total"`  // frames in all bins
		Counts []int  `json:"counts"` // for each bin
	}

	// PagePlot is values over positions or other values: points, or where these are more than can be drawn, a summary.
	PagePlot struct {
		Kind     string      `json:"kind"`              // points, bands, grid or bins
		Count    int         `json:"count"`             // of frames with the values
		Lacking  int         `json:"lacking"`           // frames that lack what the values take
		Frames   []int       `json:"frames,omitempty"`  // of points
		X        []PageFloat `json:"x,omitempty"`       // of points; of bands the middle
		Y        []PageFloat `json:"y,omitempty"`       // of points; of bands the mean, null for none
		Low      []PageFloat `json:"low,omitempty"`     // of bands: the least
		High     []PageFloat `json:"high,omitempty"`    // of bands: the greatest
		XRange   []PageFloat `json:"xRange,omitempty"`  // of points, bands and a grid
		YRange   []PageFloat `json:"yRange,omitempty"`  // the least and the greatest y; absent without values
		Grid     [][]int     `json:"grid,omitempty"`    // counts, rows from the least value
		Bins     []PageBin   `json:"bins,omitempty"`    // of a histogram, absent in other plots
		Integers bool        `json:"integers"`          // all values of y are integers
		Names    []PageName  `json:"names,omitempty"`   // of the values of an enumeration; absent for other types
		Summary  *PageFigure `json:"summary,omitempty"` // of y
	}
	// PageBin is a bar of a histogram.
	PageBin struct {
		Low   string `json:"low"`
		High  string `json:"high"`  // included
		Count int    `json:"count"` // values
	}
	// PageFigure sums up values, as show --value prints it.
	PageFigure struct {
		Min    string `json:"min"`
		Max    string `json:"max"`
		Mean   string `json:"mean"`
		Median string `json:"median"`
		P99    string `json:"p99"`
		Exact  bool   `json:"exact"` // median and p99 are exact, not within 1 %
	}
	// PageName is the name of a value of an enumeration.
	PageName struct {
		Value PageFloat `json:"value"` // as y has it
		Name  string    `json:"name"`
	}

	// PageSource is a source file with how often its lines were hit.
	PageSource struct {
		SourceFile
		Hits []PageLine `json:"hits"`
	}
	// PageLine is a line that tracepoints are at, or frames are of.
	PageLine struct {
		Line        int            `json:"line"`   // from 1
		Frames      int            `json:"frames"` // that are of the line
		Tracepoints []trace.Number `json:"tracepoints"`
		Last        string         `json:"last,omitempty"`      // what its last frame collected
		LastFrame   *int           `json:"lastFrame,omitempty"` // its number; absent if there is none
	}

	// PageStacks is the stacks of frames as a tree.
	PageStacks struct {
		Root    PageCall `json:"root"`
		Stacks  int      `json:"stacks"`  // frames with one
		Lacking int      `json:"lacking"` // frames without one
		Every   int      `json:"every"`   // 1 if all stacks were unwound, 10 if every tenth was
	}
	// PageCall is a function in the stacks, by the path of its callers.
	PageCall struct {
		Name  string     `json:"name"`
		Count int        `json:"count"`           // frames
		Calls []PageCall `json:"calls,omitempty"` // the most frequent first
	}
)

// PageFloat is a number of a plot; what is no finite number is null in JSON.
type PageFloat float64

// MarshalJSON implements json.Marshaler.
func (f PageFloat) MarshalJSON() ([]byte, error) {
	if n := float64(f); !math.IsNaN(n) && !math.IsInf(n, 0) {
		return strconv.AppendFloat(nil, n, 'g', -1, 64), nil
	}
	return []byte("null"), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *PageFloat) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = PageFloat(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(f))
}

// DescribeTrace describes the definitions and the run of a trace, for a page. What the frames tell is left to be filled in.
func DescribeTrace(v *view.View, damage error) PageTrace {
	header := v.Content.Header()
	object := PageTrace{Frames: v.Content.NumFrames(), Status: describeStatus(header.Status), Stacks: v.CollectsStacks(),
		Tracepoints: []Tracepoint{}, Threads: []PageThread{}, Items: []string{}, Numbers: []string{}, Columns: []string{},
		Sources: []SourceLines{}}
	if header.Status != nil {
		object.State = view.StateText(header.Status)
	}
	frames := v.FramesByTracepoint()
	for _, t := range view.ByNumber(header.Tracepoints) {
		object.Tracepoints = append(object.Tracepoints, DescribeTracepoint(v, &t, frames[t.Number]))
	}
	if v.Symbols != nil {
		object.Program = v.Symbols.Main().Path()
	}
	if damage != nil {
		object.Error = damage.Error()
	}
	return object
}
