//go:build linux && amd64

package show

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/cmd/tracewell/internal/cli/clitest"
	"tracewell/internal/jsontext"
	"tracewell/view/wire"
)

// TestValueCountsTexts: of a pointer to characters it is the texts that are counted, not where they are.
func TestValueCountsTexts(t *testing.T) {
	_, path, texts := clitest.RecordForeign(t)
	want := map[string]int{}
	for _, text := range texts {
		want[text]++
	}
	for _, value := range []string{"l->text", "(char *)l->text"} {
		var object wire.Figures
		if err := json.Unmarshal([]byte(clitest.Run(t, "show", path, "--json", "--value", value).Stdout), &object); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, m := range object.Values[0].Texts {
			got[m.Text] = m.Count
		}
		if diff := cmp.Diff(want, got); diff != "" || object.Values[0].Count != len(texts) {
			t.Errorf("%s: (-want +got)\n%s", value, diff)
		}
		shown := clitest.Run(t, "show", path, "--value", value).Stdout
		if !strings.Contains(shown, fmt.Sprintf("texts     %d, %d different\n", len(texts), len(want))) || !strings.Contains(shown, "\"@SUM(A1)\"  1  █") {
			t.Errorf("%s prints\n%s", value, shown)
		}
		if i := strings.IndexFunc(strings.ReplaceAll(shown, "\n", ""), jsontext.Escaped); i >= 0 {
			t.Errorf("%s prints commands: %q", value, shown)
		}
	}
}
