package convert

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/internal/test/testtool"
)

// message is a message as protoc prints it: the fields by name, each a text or a message.
type message map[string][]any

// perfettoTrace is the packets of a trace as protoc reads them.
func perfettoTrace(t *testing.T, path string) []any {
	t.Helper()
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	cmd := testtool.Command(t, "protoc", "-Itestdata", "--decode=Trace", "perfetto.proto")
	cmd.Stdin = in
	nested := []message{{}}
	for line := range strings.Lines(output(t, cmd)) {
		line = strings.TrimSpace(line)
		inner := nested[len(nested)-1]
		name, value, isLeaf := strings.Cut(line, ": ")
		switch {
		case line == "}":
			nested = nested[:len(nested)-1]
			continue
		case !isLeaf:
			name = strings.TrimSuffix(line, " {")
			m := message{}
			inner[name] = append(inner[name], m)
			nested = append(nested, m)
			continue
		case value[0] == '"':
			if value, err = strconv.Unquote(strings.ReplaceAll(value, `\'`, `'`)); err != nil {
				t.Fatal(err)
			}
		}
		if name[0] >= '0' && name[0] <= '9' {
			t.Fatalf("there is a field %s, which no description has", name)
		}
		inner[name] = append(inner[name], value)
	}
	return nested[0]["packet"]
}

// text is a field that is there once, "" if it is not; in is one that is a message.
func (m message) text(name string) string {
	if len(m[name]) != 1 {
		return ""
	}
	return m[name][0].(string)
}

func (m message) in(name string) message {
	if len(m[name]) != 1 {
		return nil
	}
	return m[name][0].(message)
}

// TestExportPerfetto: protoc finds all values as arguments of the events, those on the tracks of their threads, numbers as counters
// and the flows that were asked for.
func TestExportPerfetto(t *testing.T) {
	e := recordKinds(t)
	tracks := map[string]message{}
	flows := map[string]string{}
	var rows []row
	for _, p := range perfettoTrace(t, e.convert(t, ".pftrace", "-r", "rip", "--flow", "n % 10")) {
		packet := p.(message)
		if d := packet.in("track_descriptor"); d != nil {
			tracks[d.text("uuid")] = d
		}
		event := packet.in("track_event")
		if event == nil {
			continue
		}
		r := row{}
		for _, a := range event["debug_annotations"] {
			a := a.(message)
			for _, kind := range []string{"bool_value", "uint_value", "int_value", "double_value", "string_value", "pointer_value"} {
				if value, known := a[kind]; known {
					r[a.text("name")] = value[0].(string)
				}
			}
		}
		rows = append(rows, r)

		thread := tracks[event.text("track_uuid")]
		process := tracks[thread.text("parent_uuid")]
		if got := thread.in("thread").text("tid"); got != r["$tid"] {
			t.Errorf("an event of thread %s is on the track of thread %s", r["$tid"], got)
		}
		if got := process.in("process"); got.text("pid") != r["$pid"] || got.text("process_name") != "kinds" {
			t.Errorf("an event of process %s is in %v", r["$pid"], got)
		}
		if got := packet.text("timestamp"); got != r["$trace_timestamp"]+"000" {
			t.Errorf("frame %s is at %s, want %s microseconds", r["frame"], got, r["$trace_timestamp"])
		}
		if event.text("name") != r["source"] || event.text("type") != "TYPE_INSTANT" {
			t.Errorf("frame %s is %s, an event %s", r["frame"], event.text("name"), event.text("type"))
		}
		last := r["n"][len(r["n"])-1:]
		if flow, seen := flows[last]; seen && flow != event.text("flow_ids") {
			t.Errorf("frame %s has flow %s, another with the same value %s", r["frame"], event.text("flow_ids"), flow)
		}
		flows[last] = event.text("flow_ids")
		checkCounters(t, event, r, tracks)
	}
	e.check(t, rows, 6)
	distinct := map[string]bool{}
	for _, flow := range flows {
		distinct[flow] = true
	}
	if len(distinct) != 10 || distinct[""] {
		t.Errorf("flows are %v", flows)
	}
}

// checkCounters holds the counters of an event against its arguments.
func checkCounters(t *testing.T, event message, r row, tracks map[string]message) {
	t.Helper()
	found := row{}
	for _, kind := range []string{"", "double_"} {
		values := event["extra_"+kind+"counter_values"]
		for i, uuid := range event["extra_"+kind+"counter_track_uuids"] {
			found[tracks[uuid.(string)].text("name")] = values[i].(string)
		}
	}
	for _, column := range []string{"n", "k->i8", "k->u8", "k->i64", "k->u32", "k->d", "k->f", "k->bits"} {
		if found[column] != r[column] {
			t.Errorf("frame %s: the counter of %s is %q, want %q", r["frame"], column, found[column], r[column])
		}
	}
	for _, column := range []string{"k->p", "rip", "k->b", "k->color", "frame", "$tid"} {
		if value, counts := found[column]; counts {
			t.Errorf("frame %s: %s has a counter, of %s", r["frame"], column, value)
		}
	}
}

// typedEvents is what babeltrace says of the events of a trace.
func typedEvents(t *testing.T, folder string) (rows []row) {
	t.Helper()
	text := output(t, testtool.Command(t, "babeltrace2", "--clock-seconds", "--no-delta", folder))
	for line := range strings.Lines(text) {
		stamp, rest, _ := strings.Cut(strings.TrimPrefix(line, "["), "] ")
		name, fields, _ := strings.Cut(rest, ": { ")
		r := row{"source": name, "$trace_timestamp": strings.TrimSuffix(strings.Replace(stamp, ".", "", 1), "000")}
		for fields != "}\n" {
			field, value, ok := strings.Cut(fields, " = ")
			if !ok {
				t.Fatalf("no fields: %q in %s", fields, line)
			}
			if value[0] == '"' {
				quoted, err := strconv.QuotedPrefix(value)
				if err != nil {
					t.Fatalf("%v: %s", err, value)
				}
				fields = value[len(quoted):]
				r[field], _ = strconv.Unquote(quoted)
			} else {
				end := strings.IndexAny(value, ", ")
				r[field], fields = value[:end], value[end:]
			}
			fields = strings.TrimLeft(fields, ", ")
		}
		rows = append(rows, r)
	}
	return rows
}

// TestExportTypedCTF: babeltrace finds an event for each frame at its time, with the fields that the frame has.
func TestExportTypedCTF(t *testing.T) {
	e := recordKinds(t)
	rows := typedEvents(t, e.convert(t, ".ctf", "--ctf", "typed", "--by-time", "-r", "rip"))
	for i, r := range rows {
		named := row{}
		for field, value := range r {
			column := field
			switch inner, isMember := strings.CutPrefix(field, "k_"); {
			case isMember:
				column = "k->" + strings.Replace(inner, "inner_", "inner.", 1)
			case field == "tid" || field == "pid":
				column = "$" + field
			}
			switch {
			case strings.HasPrefix(value, "0x"):
				value = decimal(t, value)
			case column == "k->b":
				value = map[string]string{"0": "false", "1": "true"}[value]
			}
			named[column] = value
		}
		rows[i] = named
	}
	// Sorted frames have the numbers of their order.
	slices.SortStableFunc(e.want, func(a, b row) int { return strings.Compare(a["$trace_timestamp"], b["$trace_timestamp"]) })
	for i := range e.want {
		e.want[i]["frame"] = strconv.Itoa(i)
	}
	e.check(t, rows, 5)
}
