package testprog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Ran is how long the threads that a process has now have had a processor.
func Ran(t testing.TB, pid int) (sum time.Duration) {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, file := range files {
		text, err2 := os.ReadFile(file)
		var ns time.Duration
		if err2 == nil {
			_, err2 = fmt.Sscan(string(text), &ns)
		}
		sum, err = sum+ns, errors.Join(err, err2)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
