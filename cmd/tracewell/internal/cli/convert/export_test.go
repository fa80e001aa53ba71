package convert

import (
	"encoding/hex"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/test/testprog"
	"tracewell/internal/test/testtool"
)

// row is a frame as another program read it: the known values as texts, by column.
type row map[string]string

// exported is a recording of the program kinds, and what its frames should be.
type exported struct {
	path string
	want []row // by the number of the frame
}

// recordKinds records a program whose values are known: those of the structure are what the program printed, and the rest is what
// show says.
func recordKinds(t *testing.T) exported {
	t.Helper()
	p := testprog.Build(t, "kinds", testprog.Variant{})
	got, path := clitest.RecordInto(t, "-q", "--follow", "--backtrace", "--at", "take", "--collect", "*k, n", "--collect", "/s name",
		"--at", "late", "--collect", "n", "--", p.Path)
	if got.Status != 0 {
		t.Fatalf("status %d: %s", got.Status, got.Stderr)
	}
	printed := make(map[string]testprog.Record)
	for _, r := range testprog.OfKind(testprog.Records(got.Stdout), "take") {
		printed[r.Fields["n"]] = r
	}
	e := exported{path: path}
	structures := 0
	for line := range strings.Lines(clitest.Run(t, "show", path, "--json", "-r", "rip").Stdout) {
		var f struct {
			Source, Symbol, Line, PC, Comm string
			Variables                      map[string]json.Number
			Collected                      map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatal(err)
		}
		n := string(f.Collected["n"])
		want := row{
			"frame": strconv.Itoa(len(e.want)), "source": f.Source, "symbol": f.Symbol, "line": f.Line, "n": n,
			"tracepoint": "1", "pc": decimal(t, f.PC), "rip": decimal(t, f.PC), "$tid": f.Variables["tid"].String(),
			"$pid": f.Variables["pid"].String(), "$trace_timestamp": f.Variables["trace_timestamp"].String(),
		}
		if f.Comm != "" { // a thread may be gone before its name is read
			want["comm"] = "kinds"
		}
		if want["name"] = "job " + n; f.Source == "late" {
			want["tracepoint"] = "2"
			delete(want, "name")
		}
		if r, ok := printed[n]; ok {
			structures++
			if r.Fields["pid"] != want["$pid"] || r.Fields["tid"] != want["$tid"] {
				t.Fatalf("frame %v is of process %s, thread %s for the program", want, r.Fields["pid"], r.Fields["tid"])
			}
			maps.Copy(want, structure(t, r))
		}
		e.want = append(e.want, want)
	}
	if structures != 27 || len(e.want) != 32 {
		t.Fatalf("%d frames, %d of them with structures", len(e.want), structures)
	}
	return e
}

// structure is what the program printed of its structure, by columns.
func structure(t *testing.T, r testprog.Record) row {
	t.Helper()
	values := row{}
	for name, value := range r.Fields {
		switch name {
		case "n", "pid", "tid":
			continue
		case "text", "pointed":
			b, err := hex.DecodeString(value)
			if err != nil {
				t.Fatal(err)
			}
			value = string(b)
		}
		values["k->"+name] = value
	}
	n := r.Int(t, "n")
	if values["k->i128"] = "0"; n > 0 {
		values["k->i128"] = map[int64]string{1: "-1237940039285380274899124224"}[n]
	}
	if n > 1 {
		delete(values, "k->i128") // C prints none, and one is enough
	}
	return values
}

func decimal(t *testing.T, hexadecimal string) string {
	t.Helper()
	n, err := strconv.ParseUint(hexadecimal, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.FormatUint(n, 10)
}

// number is a floating-point number in any text.
var number = regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]\d+)?`)

// rounded is a value with its numbers to so many digits, and without blanks where people may have some.
func rounded(column, value string, digits int) string {
	switch column {
	case "k->flags", "k->z", "k->array":
		value = strings.ReplaceAll(value, " ", "")
	case "k->d", "k->ld", "k->f", "k->inner.weights":
	default:
		return value
	}
	return number.ReplaceAllStringFunc(value, func(s string) string {
		f, _ := strconv.ParseFloat(s, 64)
		return strconv.FormatFloat(f, 'g', digits, 64)
	})
}

// check compares what another program read with what it should have read, except for some columns.
func (e exported) check(t *testing.T, got []row, digits int, except ...string) {
	t.Helper()
	if len(got) != len(e.want) {
		t.Fatalf("%d frames, want %d", len(got), len(e.want))
	}
	for i, want := range e.want {
		for column, value := range want {
			if slices.Contains(except, column) {
				continue
			}
			if a, b := rounded(column, got[i][column], digits), rounded(column, value, digits); a != b {
				t.Errorf("frame %d: %s is %q, want %q", i, column, a, b)
			}
		}
		for column, value := range got[i] {
			if _, known := want[column]; !known && column != "k->i128" {
				t.Errorf("frame %d: %s is %q, which the frame lacks", i, column, value)
			}
		}
	}
}

// convert writes the recording as a file of another format, and returns its path.
func (e exported) convert(t *testing.T, suffix string, options ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run"+suffix)
	got := clitest.Run(t, append([]string{"convert", e.path, out}, options...)...)
	if got != (clitest.Outcome{}) {
		t.Fatalf("%s: exit status %d, %s", suffix, got.Status, got.Stderr)
	}
	return out
}

// output is what a command prints on its standard output.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, complaints.String())
	}
	return string(out)
}

// duckDB runs a query, and returns its rows.
func duckDB(t *testing.T, query string) (rows []row) {
	t.Helper()
	const script = `
		const {DuckDBInstance} = require("@duckdb/node-api");
		(async () => {
			const connection = await (await DuckDBInstance.create(":memory:")).connect();
			const result = await connection.runAndReadAll(process.argv[1]);
			console.log(JSON.stringify(result.getRowObjectsJson()));
		})();`
	decoder := json.NewDecoder(strings.NewReader(output(t, testtool.Node(t, script, query))))
	decoder.UseNumber()
	var objects []map[string]any
	if err := decoder.Decode(&objects); err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		r := row{}
		for column, value := range object {
			switch value := value.(type) {
			case string:
				r[column] = value
			case json.Number:
				r[column] = value.String()
			case bool:
				r[column] = strconv.FormatBool(value)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// TestExportParquet: DuckDB finds the values of all frames in columns of their types, in one row group or in several.
func TestExportParquet(t *testing.T) {
	e := recordKinds(t)
	path := e.convert(t, ".parquet", "-r", "rip")
	rows := duckDB(t, `select * replace (epoch_us("$trace_timestamp") as "$trace_timestamp") from '`+path+`' order by frame`)
	e.check(t, rows, 6)
	types := row{}
	for _, r := range duckDB(t, "describe select * from '"+path+"'") {
		types[r["column_name"]] = r["column_type"]
	}
	wanted := row{
		"frame": "BIGINT", "source": "VARCHAR", "pc": "UBIGINT", "$trace_timestamp": "TIMESTAMP", "n": "INTEGER", "name": "VARCHAR",
		"k->i8": "TINYINT", "k->u8": "UTINYINT", "k->i16": "SMALLINT", "k->u16": "USMALLINT", "k->i32": "INTEGER", "k->u32": "UINTEGER",
		"k->i64": "BIGINT", "k->u64": "UBIGINT", "k->f": "FLOAT", "k->d": "DOUBLE", "k->b": "BOOLEAN", "k->color": "VARCHAR",
		"k->text": "VARCHAR", "k->p": "UBIGINT", "k->array": "VARCHAR", "k->bits": "UINTEGER", "k->sbits": "INTEGER",
	}
	for column, want := range wanted {
		if types[column] != want {
			t.Errorf("%s is of type %s, want %s", column, types[column], want)
		}
	}
}

// TestExportEmpty: readers find no frame in a file of none, and no fault.
func TestExportEmpty(t *testing.T) {
	p := testprog.Build(t, "kinds", testprog.Variant{})
	got, path := clitest.RecordInto(t, "-q", "--at", "take", "--if", "n < 0", "--collect", "*k", "--", p.Path)
	if got.Status != 0 {
		t.Fatalf("status %d: %s", got.Status, got.Stderr)
	}
	e := exported{path: path}
	if rows := duckDB(t, "select * from '"+e.convert(t, ".parquet")+"'"); len(rows) != 0 {
		t.Errorf("DuckDB found %d rows", len(rows))
	}
	if packets := perfettoTrace(t, e.convert(t, ".pftrace")); len(packets) != 0 {
		t.Errorf("protoc found %v", packets)
	}
	if lines := typedEvents(t, e.convert(t, ".ctf", "--ctf", "typed")); len(lines) != 0 {
		t.Errorf("babeltrace found %v", lines)
	}
	if text := output(t, testtool.Command(t, "go", "tool", "pprof", "-raw", e.convert(t, ".pprof"))); !strings.Contains(text, "hits/count") {
		t.Errorf("pprof found\n%s", text)
	}
	if text := clitest.Content(t, e.convert(t, ".folded")); text != "" {
		t.Errorf("there are stacks: %s", text)
	}
}

// TestExportStacks: pprof and folded stacks have the calls of the program, and add up what they are asked to.
func TestExportStacks(t *testing.T) {
	e := recordKinds(t)
	counts, sums := map[string]int{}, map[string]int{}
	wanted := map[string]map[string]int{"": counts, "--value=n": sums}
	for option, into := range wanted {
		var options []string
		if option != "" {
			options = append(options, option)
		}
		for line := range strings.Lines(clitest.Content(t, e.convert(t, ".folded", options...))) {
			at := strings.LastIndexByte(line, ' ')
			n, err := strconv.Atoi(strings.TrimSpace(line[at:]))
			if err != nil {
				t.Fatal(err)
			}
			calls := strings.Split(line[:at], ";")
			if slices.Contains(calls, "main") {
				calls = calls[slices.Index(calls, "main"):]
			}
			into[strings.Join(calls[max(0, len(calls)-3):], ";")] += n
		}
	}
	// Numbers 0 to 9 and 80 to 89 are of the main threads, 40 to 49 of the other.
	if want := map[string]int{"main;run;take": 20, "start_thread;run;take": 10, "main;late": 2}; !maps.Equal(counts, want) {
		t.Errorf("counts are %v, want %v", counts, want)
	}
	if want := map[string]int{"main;run;take": 890, "start_thread;run;take": 445, "main;late": 2001}; !maps.Equal(sums, want) {
		t.Errorf("sums are %v, want %v", sums, want)
	}
	profile := e.convert(t, ".pb.gz", "--value", "n")
	samples := map[string]row{
		"hits": {"take": "30 30", "late": "2 2", "run": "0 30", "main": "0 22", "start_thread": "0 10"},
		"n":    {"take": "1335 1335", "late": "2001 2001", "run": "0 1335", "main": "0 2891", "start_thread": "0 445"},
	}
	for sample, want := range samples {
		found := row{}
		top := output(t, testtool.Command(t, "go", "tool", "pprof", "-top", "-unit=none", "-sample_index="+sample, profile))
		for line := range strings.Lines(top) {
			if words := strings.Fields(line); len(words) == 6 && want[words[5]] != "" { // flat flat% sum% cum cum% function
				found[words[5]] = digits(words[0]) + " " + digits(words[3])
			}
		}
		if !maps.Equal(found, want) {
			t.Errorf("%s: pprof has %v, want %v:\n%s", sample, found, want, top)
		}
	}
}

// digits are the digits of a number without its unit.
func digits(s string) string { return strings.TrimRight(s, "abcdefghijklmnopqrstuvwxyz") }
