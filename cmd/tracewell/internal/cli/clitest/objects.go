package clitest

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"tracewell/view/wire"
)

// Objects reads what "show --json" printed. Each line has the members of the struct that documents it, all that it always has and
// no others: it is decoded strictly, and encoded again it means the same.
func Objects(t testing.TB, printed string) []wire.Frame {
	t.Helper()
	var frames []wire.Frame
	for line := range strings.Lines(printed) {
		var frame wire.Frame
		// Decoding fails for a member that the struct lacks, comparing again for one that only the struct has.
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&frame); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		again, err := json.Marshal(frame)
		if err != nil || !reflect.DeepEqual(anything(t, again), anything(t, []byte(line))) {
			t.Fatalf("%v: decoded and encoded\n%sis\n%s", err, line, again)
		}
		frames = append(frames, frame)
	}
	return frames
}

func anything(t testing.TB, object []byte) (value any) {
	t.Helper()
	if err := json.Unmarshal(object, &value); err != nil {
		t.Fatal(err)
	}
	return value
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
