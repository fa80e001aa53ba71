package match

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/internal/text"
	"tracewell/itrace/match"
)

// tracePair is a reference and what is to be compared with it.
type tracePair struct {
	name             string // as it was written
	reference, other string // paths
	place            *match.PairPlace
}

// shard is the value of --shard: the pairs whose number, counted from 0, is index modulo count.
type shard struct{ index, count int }

// UnmarshalText implements encoding.TextUnmarshaler for I/N.
func (s *shard) UnmarshalText(value []byte) error {
	index, count, ok := strings.Cut(string(value), "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	switch {
	case !ok || err1 != nil || err2 != nil || n < 1:
		return fmt.Errorf("%q is no shard: want I/N, such as 0/4", value)
	case i < 0 || i >= n:
		return fmt.Errorf("%q is no shard: they are counted from 0, so of %d the last is %d/%d", value, n, n-1, n)
	}
	*s = shard{i, n}
	return nil
}

// String gives the shard as it is written.
func (s shard) String() string { return fmt.Sprintf("%d/%d", s.index, s.count) }

// readPairs reads a manifest, "-" being standard input, and returns the pairs of a shard, nil being all.
func readPairs(path string, part *shard, streams console.Streams) ([]tracePair, error) {
	source, folder := io.Reader(streams.In), "."
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		source, folder = f, filepath.Dir(path)
	}
	pairs, err := parsePairs(source, path, folder)
	if err != nil {
		return nil, err
	}
	switch {
	case len(pairs) == 0:
		return nil, fmt.Errorf("%s lists no pairs: there is nothing to compare", path)
	case len(pairs) > maxPairs:
		return nil, fmt.Errorf("%s lists %d pairs: want %d at most", path, len(pairs), maxPairs)
	}
	chosen, all := []tracePair(nil), shard{0, 1}
	if part != nil {
		all = *part
	}
	for i := all.index; i < len(pairs); i += all.count {
		pairs[i].place = &match.PairPlace{Manifest: filepath.Clean(path), Number: i + 1, Total: len(pairs), Shard: all.index, Shards: all.count}
		chosen = append(chosen, pairs[i])
	}
	return chosen, nil
}

// maxPairs is how many pairs a manifest may list. It bounds what --merge says of pairs that have no result.
const maxPairs = 1 << 20

// maxManifestLine is more than two paths can be long.
const maxManifestLine = 1 << 16

func parsePairs(source io.Reader, path, folder string) (pairs []tracePair, err error) {
	lines := bufio.NewScanner(source)
	lines.Buffer(nil, maxManifestLine)
	number := 0
	for lines.Scan() {
		number++
		names, err := splitNames(lines.Text())
		if err == nil && len(names) != 0 && len(names) != 2 {
			err = fmt.Errorf("found %s, expected REFERENCE and OTHER", text.Plural(len(names), "name"))
		}
		var paths []string
		for _, name := range names {
			if name == "-" {
				err = errors.New("standard input cannot be one of several traces")
			}
			if !filepath.IsAbs(name) {
				name = filepath.Join(folder, name)
			}
			paths = append(paths, name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		if len(names) == 2 {
			pairs = append(pairs, tracePair{name: names[0] + " " + names[1], reference: paths[0], other: paths[1]})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, number+1, err)
	}
	return pairs, nil
}

// splitNames splits a line of a manifest: at tabs if it has any, else at blanks that are not in quotes. A comment begins where a
// name could.
func splitNames(line string) (names []string, err error) {
	byTab := strings.Contains(strings.TrimSpace(line), "\t")
	blank := func(c byte) bool { return c == '\t' || c == '\r' || c == ' ' && !byTab }
	for rest := line; ; {
		for rest != "" && (blank(rest[0]) || rest[0] == ' ') {
			rest = rest[1:]
		}
		if rest == "" || rest[0] == '#' {
			return names, nil
		}
		end := 0
		if quote := rest[0]; quote == '"' || quote == '\'' {
			if end = strings.IndexByte(rest[1:], quote) + 1; end == 0 {
				return nil, fmt.Errorf("a name begins with %c and does not end with it", quote)
			}
			names, rest = append(names, rest[1:end]), rest[end+1:]
			continue
		}
		for end < len(rest) && !blank(rest[end]) {
			end++
		}
		names, rest = append(names, strings.TrimRight(rest[:end], " ")), rest[end:]
	}
}
