package tracetext

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/tfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden reads texts that were written by hand. What each comes to is in a golden file: as comments what tfile reads in
// the binary file, and behind them the text of that, which makes the same file as the first one.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatal("no texts", err)
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			hand, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			data := bytesOf(t, string(hand))
			got := properties(t, data) + textOf(t, data)
			golden := strings.TrimSuffix(name, "txt") + "golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !bytes.Equal(bytesOf(t, got), data) {
				t.Error("the text of the file makes another file")
			}
			if !Is(hand) || !Is([]byte(got)) {
				t.Error("not told to be a text")
			}
		})
	}
}

// properties gives, as comments, what tfile reads in the first of the files in data.
func properties(t *testing.T, data []byte) string {
	var out strings.Builder
	f, err := tfile.OpenBytes(data)
	fmt.Fprintf(&out, "# %d bytes: register blocks of %d, byte order %s\n", len(data), f.Header().RegisterSize, f.OrderSource())
	if err != nil {
		fmt.Fprintf(&out, "# %v\n", err)
	}
	for i := range f.NumFrames() {
		frame, err := f.Frame(i)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "# frame %d of tracepoint %d, %d bytes:", i, frame.Tracepoint(), frame.Len())
		for b := range frame.Blocks() {
			fmt.Fprintf(&out, " %c%d", b.Kind, len(b.Bytes))
		}
		if err := frame.Check(); err != nil {
			fmt.Fprintf(&out, " %v", err)
		}
		out.WriteByte('\n')
	}
	return out.String()
}
