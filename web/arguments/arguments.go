// Package arguments reads the numbers in the questions that a page asks, so that all subjects report a wrong one alike: the page
// shows the error, and other programs ask, too.
package arguments

import (
	"fmt"
	"net/url"
	"strconv"
)

// Int64 returns the number that an argument has to be, in decimal.
func Int64(args url.Values, name string) (int64, error) {
	n, err := strconv.ParseInt(args.Get(name), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is no number", name, args.Get(name))
	}
	return n, nil
}

// Int returns the number that an argument is, and def if there is none.
func Int(args url.Values, name string, def int) (int, error) {
	if args.Get(name) == "" {
		return def, nil
	}
	n, err := Int64(args, name)
	if err == nil && int64(int(n)) != n { // on a machine of 32 bits
		err = fmt.Errorf("%s: %d is too large", name, n)
	}
	return int(n), err
}

// Index returns the number that an argument has to be, of something of which there are n, from 0.
func Index(args url.Values, name string, n int) (int, error) {
	i, err := Int64(args, name)
	switch {
	case err != nil:
		return 0, err
	case i < 0 || i >= int64(n):
		return 0, fmt.Errorf("there is no %s %d: there are %d", name, i, n)
	}
	return int(i), nil
}
