package console

import (
	"strings"
	"testing"
)

// TestCheckTracing: where processes cannot be traced the error names the command, what it requires, and what this machine is.
func TestCheckTracing(t *testing.T) {
	for _, processor := range []string{"amd64", "arm64", "riscv64"} {
		if err := checkTracing("serve", "linux", processor); err != nil {
			t.Error(err)
		}
	}
	for _, here := range [][2]string{{"linux", "386"}, {"linux", "mips64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}} {
		err := checkTracing("serve", here[0], here[1])
		want := "serve: tracing processes of this machine requires " + Platforms() + "; this is " + strings.Join(here[:], "/")
		if err == nil || err.Error() != want {
			t.Errorf("%v: %v, want %s", here, err, want)
		}
	}
}
