package live

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracewell/internal/test/gdbtest"
)

// TestSaveOnTarget has the server write the trace file, over one that exists, and GDB another one. Both must be the same but
// for what GDB writes in its own way: the definitions.
func TestSaveOnTarget(t *testing.T) {
	t.Parallel()
	const values = `printf "push number=%d label=%s\n", item->number, item->label`
	dir := t.TempDir()
	remote := filepath.Join(dir, "remote.tf")
	if err := os.WriteFile(remote, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	s := debug(t, queue(t), []string{"30"}, toMain+tracePushes+toExit+`
		tsave {FILE}
		tsave -r `+remote+`
		-- failing --
		? tsave -r `+filepath.Join(dir, "none", "remote.tf")+`
		? tsave -r `+dir+`
	`+toEnd)
	contains(t, s.output, "failing", "no such file or directory", "not a regular file")
	frames := func(path string) (all string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, all, found := strings.Cut(string(b), "\n\n")
		if !found {
			t.Errorf("%s has no end of definitions", path)
		}
		return all
	}
	if frames(s.file) != frames(remote) {
		t.Error("the frames that GDB has written are not those of the server")
	}
	if status, err := os.Stat(remote); err != nil || status.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", status, err)
	}
	for _, path := range []string{s.file, remote} {
		output := gdbtest.Run(t, s.program.Path, "target tfile "+path+"\n-- status --\ntstatus\n-- frames --"+walk(values))
		contains(t, output, "status", "Collected 30 trace frames.")
		var want []string
		for _, line := range s.finished(t, "push") {
			line, _, _ = strings.Cut(line, " length=")
			want = append(want, line)
		}
		sameLines(t, path, want, lines(output.Section(t, "frames"), "push"))
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 1 {
		t.Errorf("the folder has %v, %v", list, err)
	}
}
