package clitest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// FrameObject is what programs may rely on in the objects of "show --json".
type FrameObject struct {
	Frame      *int              `json:"frame"`
	Tracepoint *int              `json:"tracepoint"`
	PC         string            `json:"pc"`
	Registers  map[string]string `json:"registers"`
	Memory     []struct {
		Address string `json:"address"`
		Bytes   string `json:"bytes"`
	} `json:"memory"`
	Variables map[string]int64 `json:"variables"`
	Collected map[string]any   `json:"collected"`
}

// Objects reads what "show --json" printed.
func Objects(t testing.TB, printed string) []FrameObject {
	t.Helper()
	var frames []FrameObject
	for line := range strings.Lines(printed) {
		var frame FrameObject
		if err := json.Unmarshal([]byte(line), &frame); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		frames = append(frames, frame)
	}
	return frames
}

// Examined gathers the bytes that GDB's x command printed: behind an address, a colon and a tab.
func Examined(lines []string) string {
	var bytes strings.Builder
	for _, line := range lines {
		if place, values, ok := strings.Cut(line, ":\t"); ok && strings.HasPrefix(place, "0x") {
			for value := range strings.FieldsSeq(values) {
				bytes.WriteString(strings.TrimPrefix(value, "0x"))
			}
		}
	}
	return bytes.String()
}

// Absolute is a path from the root.
func Absolute(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return full
}
