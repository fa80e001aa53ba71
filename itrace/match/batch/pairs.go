// Package batch compares many pairs of execution traces, on one machine or as shards on several, and merges the results of the
// shards.
//
// Terms. A manifest lists pairs, a reference and another trace on a line. A shard I/N is every Nth pair of a manifest, from pair
// I on, counted from 0: pairs that stand side by side tend to be alike, so each shard gets some of the long ones. A result knows
// its place, the manifest and the number of its pair.
//
// Invariant: merging the results of all shards gives the results of the whole manifest, in its order, whatever the order of the
// files. A pair without a result becomes a failure, so that a machine that died is noticed; two results of one pair are an error,
// and so are shards of two versions of a manifest.
//
// The package opens no traces and prints nothing: the caller compares one pair, and is given the results.
package batch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"tracewell/internal/text"
	"tracewell/itrace/match"
)

// Pair is a reference and the trace to compare with it.
type Pair struct {
	Name             string           // both, as they were written
	Reference, Other string           // paths
	Place            *match.PairPlace // nil without a manifest
}

// Shard is a part of a manifest: the pairs whose number, counted from 0, is Index modulo Count.
type Shard struct{ Index, Count int }

// Whole is the shard that has every pair.
var Whole = Shard{0, 1}

// UnmarshalText implements encoding.TextUnmarshaler for I/N.
func (s *Shard) UnmarshalText(value []byte) error {
	index, count, ok := strings.Cut(string(value), "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	switch {
	case !ok || err1 != nil || err2 != nil || n < 1:
		return fmt.Errorf("%q is no shard: want I/N, such as 0/4", value)
	case i < 0 || i >= n:
		return fmt.Errorf("%q is no shard: they are counted from 0, so of %d the last is %d/%d", value, n, n-1, n)
	}
	*s = Shard{i, n}
	return nil
}

// String gives the shard as it is written.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// Manifest reads a manifest and returns the pairs of a shard, which may be none. Names in it are relative to a folder; the path
// of the manifest, cleaned, is part of each pair's place, so shards on several machines have to name it alike. Errors begin with
// the path, and with the line if that is what is wrong.
func Manifest(source io.Reader, path, folder string, part Shard) (chosen []Pair, err error) {
	pairs, err := parse(source, path, folder)
	switch {
	case err != nil:
		return nil, err
	case len(pairs) == 0:
		return nil, fmt.Errorf("%s lists no pairs: there is nothing to compare", path)
	case len(pairs) > maxPairs:
		return nil, fmt.Errorf("%s lists %d pairs: want %d at most", path, len(pairs), maxPairs)
	}
	for i := part.Index; i < len(pairs); i += part.Count {
		pairs[i].Place = &match.PairPlace{
			Manifest: filepath.Clean(path), Number: i + 1, Total: len(pairs), Shard: part.Index, Shards: part.Count,
		}
		chosen = append(chosen, pairs[i])
	}
	return chosen, nil
}

// maxPairs is how many pairs a manifest may list. It bounds the failures that Merge
// makes for pairs without a result, whose number comes from a file.
const maxPairs = 1 << 20

// maxManifestLine is the longest line in bytes: more than two paths can be long, of which Linux allows 4096 bytes each.
const maxManifestLine = 1 << 16

func parse(source io.Reader, path, folder string) (pairs []Pair, err error) {
	// The line numbers of errors count comments and blank lines, as editors do.
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
			pairs = append(pairs, Pair{Name: names[0] + " " + names[1], Reference: paths[0], Other: paths[1]})
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, number+1, err)
	}
	return pairs, nil
}

// splitNames splits a line of a manifest: at tabs if it has any between names, else at blanks. A name that begins with a quote
// ends at the next one. A comment begins where a name could, so a # within a name is part of it.
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
