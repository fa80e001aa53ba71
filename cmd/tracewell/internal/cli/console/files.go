package console

import (
	"errors"
	"fmt"
	"os"
	"slices"
)

// KeepApart refuses to write over what is read, which somebody will want to have again. Either may be "-", and an empty name is
// that of nothing.
func KeepApart(out string, read []string, streams Streams) error {
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

// FreeName is NAME.tf, or the first of NAME.2.tf and so on that is free.
func FreeName(name string, free func(path string) bool) string {
	path := name + ".tf"
	for n := 2; !free(path); n++ {
		path = fmt.Sprintf("%s.%d.tf", name, n)
	}
	return path
}

// IsFree reports whether nothing has a name.
func IsFree(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}
