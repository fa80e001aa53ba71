package query_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/test/testtool"
)

// TestWaves: several objects are one file, of which itrace/query/vcd tests what it says.
func TestWaves(t *testing.T) {
	generated(t)
	succeed(t, "query", "values", "run.log", "t0", "sum", "--exec", "fw.elf", "-o", "run.vcd", "--from", "100", "--to", "9000")
	dump := clitest.Content(t, "run.vcd")
	if !strings.Contains(dump, " t0 [31:0] $end\n") || !strings.Contains(dump, " sum [31:0] $end\n") || !strings.HasSuffix(dump, "\n#9000\n") {
		t.Error(dump[:min(len(dump), 1000)])
	}
	succeed(t, "query", "values", "run.log", "t0", "-o", "time.vcd.gz", "--time")
}

// TestRowFiles holds Parquet files, as DuckDB reads them, against what JSON has.
func TestRowFiles(t *testing.T) {
	generated(t)
	for _, question := range []string{"values run.log t0", "values run.log sum", "writers run.log sum", "writers run.log t0 --last 5"} {
		args := append([]string{"query"}, strings.Fields(question+" --exec fw.elf")...)
		succeed(t, append(args, "-o", "out.parquet")...)
		if content := clitest.Content(t, "out.parquet"); !strings.HasPrefix(content, "PAR1") || !strings.HasSuffix(content, "PAR1") {
			t.Errorf("%q", content)
		}
		var want []string
		for line := range strings.Lines(succeed(t, append(args, "--json")...).Stdout) {
			var o struct {
				Instruction   int64
				PC, Symbol    string
				Value, Before string
			}
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprint(o.Instruction, o.PC, o.Symbol, o.Value, o.Before))
		}
		t.Run(question, func(t *testing.T) {
			const script = `
				const {DuckDBInstance} = require("@duckdb/node-api");
				(async () => {
					const connection = await (await DuckDBInstance.create(":memory:")).connect();
					const result = await connection.runAndReadAll("select * from 'out.parquet'");
					console.log(JSON.stringify(result.getRowObjectsJson()));
				})();`
			output, err := testtool.Node(t, script).Output()
			if err != nil {
				t.Fatal(err)
			}
			var rows []struct {
				Instruction, PC, Value json.Number
				Symbol, Digits, Before string
			}
			decoder := json.NewDecoder(bytes.NewReader(output))
			decoder.UseNumber()
			if err := decoder.Decode(&rows); err != nil || len(rows) != len(want) || len(rows) < 5 {
				t.Fatalf("%v: %d rows, not %d", err, len(rows), len(want))
			}
			for i, r := range rows {
				pc, _ := strconv.ParseUint(r.PC.String(), 10, 64)
				value, _ := strconv.ParseUint(r.Value.String(), 10, 64)
				if got := fmt.Sprint(r.Instruction, fmt.Sprintf("0x%x", pc), r.Symbol, r.Digits, r.Before); got != want[i] {
					t.Errorf("%s, not %s", got, want[i])
				}
				if fmt.Sprintf("0x%08x", value) != r.Digits {
					t.Errorf("%s is %d", r.Digits, value)
				}
			}
		})
	}
}

// TestExportErrors: files that cannot be written are told in a line.
func TestExportErrors(t *testing.T) {
	generated(t)
	for args, want := range map[string]string{
		"values run.log t0 t1":                   "a table has the values of one object",
		"values run.log t0 --time":               "--time is the axis of a file",
		"values run.log t0 -o x.txt":             "the suffix tells the format",
		"writers run.log t0 -o x.vcd":            "the suffix tells the format",
		"values run.log t0 -o x.vcd --limit 3":   "a VCD has all changes",
		"values run.log t0 -o x.parquet --time":  "--time is the axis of a VCD",
		"values run.log t0 --json -o x.vcd":      "--json is for standard output",
		"values run.log t0 nobody -o x.vcd":      `"nobody" is neither`,
		"values run.log t0 -o run.log.vcd/x.vcd": "no such file",
	} {
		got := clitest.Run(t, append([]string{"query"}, strings.Fields(args)...)...)
		if got.Status != console.StatusFailure || !strings.Contains(got.Stderr, want) || got.Stdout != "" {
			t.Errorf("query %s: %+v, not %q", args, got, want)
		}
	}
}
