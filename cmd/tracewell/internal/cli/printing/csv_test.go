package printing

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/view"
	"tracewell/view/wire"
)

// TestCSV compares tables with testdata, and reads them back with a reader of the standard library.
func TestCSV(t *testing.T) {
	for name, args := range map[string][]string{
		"csv-basic":         {"convert", clitest.Basic, "-", "--to", "csv", "-r", "rip,rdi", "--frames", ":24"},
		"csv-basic-symbols": {"convert", clitest.Basic, "-", "--to", "csv", "-r", "rip", "--frames", ":24", "--exec", clitest.BasicProgram},
		"csv-damaged":       {"convert", clitest.Damaged, "-", "--to", "csv", "-r", "rip"},
	} {
		t.Run(name, func(t *testing.T) {
			got := clitest.Run(t, args...)
			clitest.Golden(t, name, got.Stdout+"-- standard error --\n"+got.Stderr)
			rows, err := csv.NewReader(strings.NewReader(got.Stdout)).ReadAll()
			if err != nil || len(rows) < 2 {
				t.Errorf("%d rows, error %v", len(rows), err)
			}
		})
	}
}

// TestCSVAgainstJSON: a table has for each frame what the JSON object has.
func TestCSVAgainstJSON(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(clitest.Run(t, "convert", clitest.Basic, "-", "--to", "csv").Stdout)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	header := rows[0]
	lines := strings.Split(strings.TrimSpace(clitest.Run(t, "convert", clitest.Basic, "-", "--to", "json").Stdout), "\n")
	if len(lines) != len(rows)-1 || len(lines) != 85 {
		t.Fatalf("%d rows and %d objects", len(rows)-1, len(lines))
	}
	for i, line := range lines {
		var object struct {
			Frame, Tracepoint int
			Source, PC        string
			Registers         map[string]string
			Variables         map[string]int64
			Collected         map[string]any
		}
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&object); err != nil {
			t.Fatal(err)
		}
		for column, name := range header {
			cell := strings.ReplaceAll(rows[i+1][column], " ", "")
			want := ""
			switch name {
			case "frame":
				want = strconv.Itoa(object.Frame)
			case "tracepoint":
				want = strconv.Itoa(object.Tracepoint)
			case "source":
				want = object.Source
			case "pc":
				want = object.PC
			default:
				if value, ok := object.Registers[name]; ok {
					want = value
				} else if value, ok := object.Collected[name]; ok {
					want = valueText(value)
				} else if value, ok := object.Variables[strings.TrimPrefix(name, "$")]; ok {
					want = strconv.FormatInt(value, 10)
				}
			}
			if cell != want {
				t.Errorf("frame %d: %s is %q in the table, %q in the object", i, name, cell, want)
			}
		}
	}
}

// valueText is a number or a string.
func valueText(value any) string {
	if n, ok := value.(json.Number); ok {
		return n.String()
	}
	text, _ := value.(string)
	return text
}

// TestCSVQuotes what has commas and quotes in it.
func TestCSVQuotes(t *testing.T) {
	odd := "\x7fTRACE0\nR 8\ntp T1:10:E:0:0\ntp Z1:10:at:0:7:" + "612c2262220a63" + "\n\n" + "\x01\x00\x00\x00\x00\x00\x00\x00"
	path := filepath.Join(t.TempDir(), "odd.tf")
	if err := os.WriteFile(path, []byte(odd), 0o600); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t, "convert", path, "-", "--to", "csv").Stdout
	if want := "frame,tracepoint,source,pc\n0,1,\"a,\"\"b\"\"\nc\",0x10\n"; got != want {
		t.Errorf("the table is %q, want %q", got, want)
	}
}

// BenchmarkFrames says how fast frames are written for other programs.
func BenchmarkFrames(b *testing.B) {
	for name, names := range map[string][]string{"two registers": {"rip", "rdi"}, "all registers": nil} {
		t, err := input.OpenTrace(clitest.Basic, clitest.BasicProgram, console.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
		if err != nil {
			b.Fatal(err)
		}
		if names != nil {
			err = t.View.Select(names)
		}
		if err != nil {
			b.Fatal(err)
		}
		table, err := wire.NewCSVFrames(discard{}, t.View)
		if err != nil {
			b.Fatal(err)
		}
		for form, w := range map[string]interface {
			Add(view.Frame) error
		}{"csv": table, "json": wire.NewJSONFrames(discard{}, t.View)} {
			b.Run(form+", "+name, func(b *testing.B) {
				frame, err := t.View.Frame(0, nil)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					w.Add(frame)
				}
				b.SetBytes(int64(len(frame.Bytes())))
			})
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
