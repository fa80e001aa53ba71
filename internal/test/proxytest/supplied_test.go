//go:build unix

package proxytest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/fakestub"
	"tracewell/internal/test/gdbtest"
)

// TestSuppliedDescription has stubs that do not say what registers there are: the proxy takes that from a file, or from the program's
// machine, and serves it to GDB, which writes a trace file with it on the proxy's side. With neither, the proxy says what it needs.
func TestSuppliedDescription(t *testing.T) {
	const passes = 10
	quirks := fakestub.KGDB
	quirks.NoFeatures = true
	for _, way := range []string{"tdesc", "exec", "nothing"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			s := fakestub.New(fakestub.Config{Quirks: quirks, InRAM: true, Passes: passes})
			folder := t.TempDir()
			file, description, saved := filepath.Join(folder, "program.elf"), filepath.Join(folder, "machine.xml"), filepath.Join(folder, "saved.tf")
			for name, content := range map[string][]byte{file: s.ELF(), description: s.Description()} {
				if err := os.WriteFile(name, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var flags []string
			switch way {
			case "tdesc":
				flags = []string{"--tdesc", description}
			case "exec":
				flags = []string{"--exec", file}
			default:
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				output, err := exec.CommandContext(ctx, gdbtest.Binary(t), "proxy", "--to", s.Listen(t), ":0").CombinedOutput()
				if err == nil || !strings.Contains(string(output), "(--tdesc, or --exec with the program)") {
					t.Errorf("the proxy says %q, %v", output, err)
				}
				return
			}
			proxy := proxied(t, s.Listen(t), flags...)
			output := gdbtest.RunMultiarch(t, fmt.Sprintf("set osabi none\nfile %s\ntarget remote %s\n", file, proxy.Address)+showProbed+`
				trace *work
				actions
				  collect $regs, *(unsigned long *) $gp
				end
				break *end
				tstart
				continue
				tstop
				-- frames --
				python show()
				-- rest --
				tfind none
				tsave -r `+saved+`
				-- refused --
				? tsave -r `+filepath.Join(folder, "none", "saved.tf")+`
				-- rest --
				delete 2
				detach
				target tfile `+saved+`
				-- saved --
				python show()
			`)
			want := probed(s, passes, passes, false)
			for _, section := range []string{"frames", "saved"} {
				got := assumed.ReplaceAllString(output.Section(t, section), "")
				if diff := cmp.Diff(want, strings.TrimSpace(got)); diff != "" {
					t.Errorf("%s (-kept +found):\n%s", section, diff)
				}
			}
			if got := output.Section(t, "refused"); !strings.Contains(got, "no such file or directory") {
				t.Errorf("a file that cannot be written: %q", got)
			}
			tracewell(t, "check", saved)
		})
	}
}
