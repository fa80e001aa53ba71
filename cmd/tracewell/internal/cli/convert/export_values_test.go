package convert

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testtool"
)

// TestExportContainers compares what other programs find of strings, slices, maps, channels, funcs and times of a Go program with what
// that program prints of them as JSON.
func TestExportContainers(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	source := "../../../../../internal/test/recordtest/testdata/containers.go"
	if out, err := testtool.Command(t, "go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names := strings.Fields("Short UTF8 None Hundred Texts Jobs Map5 MapOfMaps NilMap NilSlice NilChan Chan0 Chan1 CutChan TextChan Func Closure " +
		"NilFunc Funcs UTC Fixed Zoned Lasting")
	got, path := clitest.RecordInto(t, "-q", "--at", "main.hit", "--collect", "v."+strings.Join(names, ", v."), "--", program)
	if got.Status != 0 {
		t.Fatalf("status %d: %s", got.Status, got.Stderr)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(got.Stdout), &want); err != nil {
		t.Fatal(err)
	}
	e := exported{path: path}
	events, _ := trackEvents(t, e.convert(t, ".pftrace", "--exec", program))
	if len(events) != 1 {
		t.Fatalf("%d events", len(events))
	}
	for reader, values := range map[string]row{
		"DuckDB": duckDB(t, "select * from '"+e.convert(t, ".parquet", "--exec", program)+"'")[0],
		"protoc": events[0].args,
	} {
		for _, name := range names {
			text, known := values["v."+name]
			var value any
			if _, isText := want[name].(string); isText {
				value = text
			} else if known {
				if err := json.Unmarshal([]byte(text), &value); err != nil {
					t.Errorf("%s: %s: %v", reader, name, err)
				}
			}
			if !reflect.DeepEqual(value, want[name]) {
				t.Errorf("%s: %s is\n%v, for the program\n%v", reader, name, text, want[name])
			}
		}
	}
	rows, err := csv.NewReader(strings.NewReader(clitest.Content(t, e.convert(t, ".csv", "--exec", program)))).ReadAll()
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows: %v", len(rows), err)
	}
	for name, text := range map[string]string{
		"Short": want["Short"].(string), "UTF8": want["UTF8"].(string), "Func": want["Func"].(string), "NilFunc": "nil",
		"UTC": want["UTC"].(string), "Zoned": want["Zoned"].(string), "NilMap": "map[string]int nil",
		"Chan1": "chan int 1/2 [0]", "MapOfMaps": `map[string]map[string]int ["a": ["b": 1]]`,
	} {
		at := slices.Index(rows[0], "v."+name)
		if at < 0 || rows[1][at] != text {
			t.Errorf("CSV: %s is %v, not %s", name, rows[1], text)
		}
	}
}
