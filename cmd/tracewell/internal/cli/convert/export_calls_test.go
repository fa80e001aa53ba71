package convert

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// recordCalls records entries and returns of a program that tells of its own calls: those that returned by their ids, and those
// that did not.
func recordCalls(t *testing.T, options ...string) (e exported, calls map[string]testprog.Record, left int) {
	t.Helper()
	p := testprog.Build(t, "calls", testprog.Variant{})
	got, path := clitest.RecordInto(t, append(options, "-q", "--follow", "--return=work", "--", p.Path)...)
	if got.Status != 0 {
		t.Fatalf("status %d: %s", got.Status, got.Stderr)
	}
	calls = make(map[string]testprog.Record)
	printed := testprog.Records(got.Stdout)
	for _, r := range testprog.OfKind(printed, "call") {
		calls[r.Fields["id"]] = r
	}
	if left = len(testprog.OfKind(printed, "left")); len(calls) != 18 || left != 18 {
		t.Fatalf("%d calls returned and %d did not", len(calls), left)
	}
	return exported{path: path}, calls, left
}

// event is one of a track.
type event struct {
	time  uint64
	kind  string
	track string
	args  row
}

// trackEvents are the events of a trace in the order of their times, in which Perfetto reads them, and the names of their tracks.
func trackEvents(t *testing.T, path string) (events []event, names map[string]string) {
	t.Helper()
	names = make(map[string]string)
	for _, p := range perfettoTrace(t, path) {
		packet := p.(message)
		if d := packet.in("track_descriptor"); d != nil {
			if names[d.text("uuid")] = d.text("name"); d.in("thread") != nil {
				names[d.text("uuid")] = "tid " + d.in("thread").text("tid")
			}
		}
		from := packet.in("track_event")
		if from == nil {
			continue
		}
		e := event{kind: from.text("type"), track: from.text("track_uuid"), args: row{}}
		e.time, _ = strconv.ParseUint(packet.text("timestamp"), 10, 64)
		for _, a := range from["debug_annotations"] {
			a := a.(message)
			for _, value := range []string{a.text("int_value"), a.text("uint_value"), a.text("string_value")} {
				e.args[a.text("name")] += value
			}
		}
		events = append(events, e)
	}
	slices.SortStableFunc(events, func(a, b event) int { return int(int64(a.time - b.time)) })
	return events, names
}

// slice is a slice of a track. Its parent is the id of the one that it is in, "0" if that is none.
type slice struct {
	begin, end event
	parent     string
}

// slicesOf makes slices of events as Perfetto does. They are told apart by an argument of their beginnings.
func slicesOf(t *testing.T, events []event, id string) (all map[string]slice, instants int) {
	t.Helper()
	all = make(map[string]slice)
	open := make(map[string][]slice)
	for _, e := range events {
		nest := open[e.track]
		inner := len(nest) - 1
		switch e.kind {
		case "TYPE_SLICE_BEGIN":
			s := slice{begin: e, parent: "0"}
			if inner >= 0 {
				s.parent = nest[inner].begin.args[id]
			}
			open[e.track] = append(nest, s)
		case "TYPE_SLICE_END":
			if inner < 0 {
				t.Fatalf("nothing is open where %v ends", e)
			}
			nest[inner].end = e
			all[nest[inner].begin.args[id]] = nest[inner]
			open[e.track] = nest[:inner]
		default:
			instants++
		}
	}
	for track, nest := range open {
		if len(nest) > 0 {
			t.Errorf("track %s has slices that never end: %v", track, nest)
		}
	}
	return all, instants
}

// TestExportCalls: each call that returned is a slice, on the track of its thread and within that of its caller, with the arguments
// at its beginning and the result at its end. Calls that did not return are none.
func TestExportCalls(t *testing.T) {
	e, calls, left := recordCalls(t)
	events, names := trackEvents(t, e.convert(t, ".pftrace"))
	found, instants := slicesOf(t, events, "id")
	if len(found) != len(calls) || instants != left {
		t.Errorf("%d slices and %d instants, want %d and %d", len(found), instants, len(calls), left)
	}
	for id, call := range calls {
		s := found[id]
		got := []string{names[s.begin.track], s.parent, s.end.args["id@entry"], s.end.args["$return"]}
		want := []string{"tid " + call.Fields["tid"], call.Fields["parent"], id, call.Fields["result"]}
		if !slices.Equal(got, want) {
			t.Errorf("the slice of call %s has %q, want %q", id, got, want)
		}
		if took := strconv.FormatUint(s.end.time-s.begin.time, 10); took != s.end.args["$took"] {
			t.Errorf("call %s took %s, and its slice %s", id, s.end.args["$took"], took)
		}
	}
}

// TestExportCrossingCalls: of two tracepoints on one function the returns come in the order of the entries, so that the calls of
// one do not lie within those of the other. One of them makes slices.
func TestExportCrossingCalls(t *testing.T) {
	e, calls, left := recordCalls(t, "--return=work")
	events, _ := trackEvents(t, e.convert(t, ".pftrace"))
	found, instants := slicesOf(t, events, "id")
	if len(found) != len(calls) || instants != 2*left+2*len(calls) {
		t.Errorf("%d slices and %d instants", len(found), instants)
	}
	for id, s := range found {
		if s.end.args["id@entry"] != id || s.parent != calls[id].Fields["parent"] {
			t.Errorf("the slice of call %s is in %s and ends call %s", id, s.parent, s.end.args["id@entry"])
		}
	}
}

// TestExportGoroutines: slices are on the tracks of goroutines, whatever threads these were in.
func TestExportGoroutines(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	source := "../../../../../internal/test/recordtest/testdata/returns.go"
	if out, err := testtool.Command(t, "go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got, path := clitest.RecordInto(t, "-q", "--return=main.deep", "--", program)
	if got.Status != 0 {
		t.Fatalf("status %d: %s", got.Status, got.Stderr)
	}
	events, names := trackEvents(t, exported{path: path}.convert(t, ".pftrace"))
	tracks := make(map[string]int)
	for _, e := range events {
		tracks[names[e.track]]++
		if !strings.HasPrefix(names[e.track], "goroutine 0x") {
			t.Errorf("an event is on track %q", names[e.track])
		}
	}
	if sizes := slices.Sorted(maps.Values(tracks)); !slices.Equal(sizes, []int{82, 84, 86, 88}) {
		t.Errorf("goroutines have %v", tracks)
	}
	if _, instants := slicesOf(t, events, "frame"); instants != 0 {
		t.Errorf("%d instants", instants)
	}
}

// TestExportSomeCalls: what is chosen of a trace has the calls of the whole of it, in tables as well. A slice is only what has both
// ends.
func TestExportSomeCalls(t *testing.T) {
	e, calls, _ := recordCalls(t)
	returns := duckDB(t, fmt.Sprintf(`select "id@entry", "$return", "$took" from '%s'`, e.convert(t, ".parquet", "--tracepoint", "2")))
	if len(returns) != len(calls) {
		t.Errorf("DuckDB has %d returns", len(returns))
	}
	for _, r := range returns {
		if call := calls[r["id@entry"]]; call.Fields["result"] != r["$return"] || r["$took"] == "" {
			t.Errorf("DuckDB has %v, the program %v", r, call)
		}
	}
	types := row{}
	for _, r := range duckDB(t, fmt.Sprintf("describe select * from '%s'", e.convert(t, ".parquet"))) {
		types[r["column_name"]] = r["column_type"]
	}
	if types["$took"] != "BIGINT" || types["$return"] != "INTEGER" || types["id@entry"] != "INTEGER" {
		t.Errorf("columns are of types %v", types)
	}
	whole, _ := trackEvents(t, e.convert(t, ".pftrace"))
	all, _ := slicesOf(t, whole, "frame")
	var want []string
	for begin, s := range all {
		from, _ := strconv.Atoi(begin)
		to, _ := strconv.Atoi(s.end.args["frame"])
		if from >= 5 && to < len(whole)-5 {
			want = append(want, begin)
		}
	}
	some, _ := trackEvents(t, e.convert(t, ".pftrace", "--frames", fmt.Sprintf("5:%d", len(whole)-6)))
	found, instants := slicesOf(t, some, "frame")
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, slices.Sorted(slices.Values(want))) || len(got) == len(all) {
		t.Errorf("slices begin at frames %v, want %v of %d", got, want, len(all))
	}
	if instants != len(whole)-10-2*len(found) {
		t.Errorf("%d instants", instants)
	}
}
