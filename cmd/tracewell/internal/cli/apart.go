package cli

import (
	"fmt"
	"os"
	"slices"
)

// keepApart refuses to write over what is read, which somebody will want to have again. Either may be "-", and an empty name is
// that of nothing.
func keepApart(out string, read []string, streams Streams) error {
	written, err := os.Stat(out)
	if out == "-" || err != nil || !written.Mode().IsRegular() && !written.IsDir() {
		return nil
	}
	same := func(name string) bool {
		status, err := os.Stat(name)
		if name == "-" {
			status, err = streams.In.Stat()
		}
		return err == nil && os.SameFile(status, written)
	}
	if slices.ContainsFunc(read, same) {
		return fmt.Errorf("%s is read, too: write to another file", out)
	}
	return nil
}
