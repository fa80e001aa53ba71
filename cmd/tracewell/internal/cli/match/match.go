// Package match is "tracewell match": pairs of execution traces compared, here or as shards on many machines, and what came of it.
//
// # The flow of a comparison
//
// The command line is rewritten first, so that those of Trace Matcher work unchanged (Words). Options that contradict one another
// and output files that could not be written are refused before a trace is opened. The pairs are the first operand with each
// other one, or the lines of a manifest; package batch compares some of them at the same time and yields results in the order of
// the pairs, and a result is printed when it comes. JUnit and HTML are written at the end, since a suite of JUnit begins with its
// totals. The comparing itself is package itrace/match, the text of a report itrace/match/report.
//
// # Inputs
//
// A trace is read once, from its beginning, and nothing of it is kept, so traces may be pipes and of any length. Two things need
// more: a reference of several traces is read for each of them, and --serve reads both sides a second time, for the index. What
// can be read once only is refused there, with the advice to write it to a file.
//
// # Ends
//
// The exit status is that of diff: 0 for equal, 1 for different, 2 if anything could not be compared, also when other pairs differ,
// because a failure may hide a difference. Ctrl-C ends the comparison that runs, which is reported as far as it came, and the
// status is 2; a second Ctrl-C ends the process at once (console.UntilInterrupted).
package match

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/text"
	"tracewell/itrace/match/batch"
)

// Command is "tracewell match".
type Command struct {
	Files []string `arg:"" optional:"" name:"trace" help:"The reference, and one or more traces to compare with it: files, compressed or not, or pipes; - is standard input."`

	originalOptions
	meaningOptions
	outputOptions
	pairsOptions
	serveOptions
}

// outputOptions choose the forms of the report. Text, JSON and one line per difference exclude one another; JUnit and HTML come
// besides.
type outputOptions struct {
	JSON           bool           `group:"Output:" name:"json" xor:"form" help:"Print one JSON object per line, for each comparison."`
	JUnit          string         `group:"Output:" name:"junit" placeholder:"FILE" help:"Write the results as JUnit XML, for CI systems."`
	HTML           string         `group:"Output:" name:"html" placeholder:"FILE" help:"Write the results as one self-contained web page."`
	Quiet          bool           `group:"Output:" short:"q" xor:"form" help:"Print only a line for each pair that is not equal."`
	MaxDifferences flags.Positive `group:"Output:" default:"100" placeholder:"N" help:"List the first N differences; all are counted (${default})."`
	Described      flags.Positive `group:"Output:" default:"20" placeholder:"N" help:"Show the lines around the first N differences (${default})."`
	Consequences   flags.Positive `group:"Output:" placeholder:"N" help:"With --json, also list the first N consequences, which are only counted otherwise."`
	Context        flags.Positive `group:"Output:" default:"8" placeholder:"N" help:"Show N instructions before a difference, 1024 at most (${default})."`
}

// pairsOptions are about many comparisons: see package batch for manifests and shards.
type pairsOptions struct {
	Pairs string         `group:"Many pairs:" placeholder:"FILE" help:"Compare the pairs listed in a file, one per line: REFERENCE and OTHER, separated by blanks or a tab. Names with blanks are separated by a tab or quoted. Names are relative to the folder of the file. # starts a comment."`
	Jobs  flags.Positive `group:"Many pairs:" short:"j" default:"1" placeholder:"N" help:"Compare N pairs in parallel (${default})."`
	Shard *batch.Shard   `group:"Many pairs:" placeholder:"I/N" help:"Compare only every Nth pair, starting with pair I: the shards 0/N to N-1/N are all pairs."`
	Merge bool           `group:"Many pairs:" help:"Merge files that match --json wrote, usually one per shard, into one result. A missing pair is a failure."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell match iss.log rtl.log                          # the first difference, what led to it, and counts
  tracewell match iss.log.gz rtl.log.zst -w 5 -fds         # options as of Trace Matcher
  tracewell match iss.log rtl.log --profile riscv-rtl       # what a simulator and hardware differ in is none
  tracewell match iss.log rtl.log --alias mips --ignore 'reg:c0_count' --ignore mem:10000000-1000ffff
  tracewell match <(iss prog.elf) <(rtl prog.elf)          # live, as they come
  tracewell match iss.log rtl.log --serve :2345,:2346 --exec prog.elf        # then look at both sides in GDB
  tracewell match iss.log rtl.log --json | jq '.differences[0]'
  tracewell match --pairs nightly.txt -j 8 --junit nightly.xml --html nightly.html
  tracewell match --pairs nightly.txt --shard 2/10 --json > shard-2.json     # one of ten machines
  tracewell match --merge shard-*.json --junit nightly.xml                   # all of them

Exit status: 0 all are equal, 1 some differ, 2 some could not be compared, ` +
		`or there was nothing to compare (of a shard without pairs, 0).
`
}

// Run implements kong's command. Results are printed as they come, in the order of the pairs. An interrupted comparison is
// reported as far as it came; pairs that were not begun are only counted. Servers of --serve start after the report, when the
// first difference is known, and a signal then ends them with the exit status of the comparison.
func (c *Command) Run(streams console.Streams) error {
	if c.Profile.list {
		return console.Write(streams, listProfiles)
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("%w (see tracewell match --help)", err)
	}
	if c.Merge {
		return c.merge(streams)
	}
	pairs, err := c.listed(streams)
	if err != nil {
		return err
	}
	if err := c.checkOutputs(pairs); err != nil {
		return err
	}
	ctx, stop := console.UntilInterrupted()
	defer stop()
	// With more shards than pairs some are empty. That is no mistake of the machine that has one, so it ends with status 0.
	results := newMatchResults(c, streams)
	if len(pairs) == 0 {
		fmt.Fprintf(streams.Err, "tracewell: %s has no pair for shard %v\n", text.Visible(c.Pairs), c.Shard)
	}
	var last *batch.Result
	for r := range c.compareAll(ctx, pairs, streams) {
		// The first result behind a signal is printed like any other, as it may be the one that the user has waited for. The loop then
		// ends, which cancels the comparisons that still run; those and the pairs that were not begun are only counted.
		last = r
		stopped := ctx.Err() != nil
		if err := results.add(r); err != nil {
			return err
		}
		switch {
		case stopped && len(pairs) > 1:
			return fmt.Errorf("interrupted: %d of %d pairs were compared", results.total()-1, len(pairs))
		case stopped:
			return console.ErrTold
		}
	}
	outcome := results.conclude()
	if c.Serve == "" {
		return outcome
	}
	// A signal from here on ends the servers, and is not an interrupted comparison.
	stop()
	return errors.Join(c.serve(last, streams), outcome)
}

// check refuses combinations of options and operands that contradict one another, before any file is opened.
func (c *Command) check() error {
	// Operands mean something else with each of --merge, --pairs and neither, so these come first.
	switch {
	// What a reference is compared with is of one producer, also if it is several traces.
	case len(c.Dialect) > 2:
		return errors.New("--dialect is given twice at most: for the reference, and for the others")
	case c.StartAddr.auto && c.BootSize > 0:
		return errors.New("--start-addr auto looks for the end of the boot code, which --boot-size tells")
	case c.Merge && (c.Pairs != "" || c.Shard != nil):
		return errors.New("--merge takes results that there are; --pairs and --shard make some")
	case c.Merge && len(c.Files) == 0:
		return errors.New("--merge needs files that match --json has written")
	case c.Pairs != "" && len(c.Files) > 0:
		return fmt.Errorf("the pairs are those of %s: %q is one too many", c.Pairs, c.Files[0])
	case c.Pairs != "":
		return c.checkServe()
	case c.Shard != nil:
		return errors.New("--shard needs --pairs")
	case len(c.Files) < 2 && !c.Merge:
		return errors.New("a reference and at least one trace to compare with it are needed")
	}
	return c.checkServe()
}

// checkOutputs refuses output files whose folder is missing, and those that are also read, by whatever name or link: found at the
// end of a night of comparisons, either would have cost the results.
func (c *Command) checkOutputs(pairs []batch.Pair) error {
	inputs := append([]string{c.Pairs}, c.Files...)
	for _, pair := range pairs {
		inputs = append(inputs, pair.Reference, pair.Other)
	}
	for _, out := range []string{c.JUnit, c.HTML} {
		if out == "" {
			continue
		}
		if _, err := os.Stat(filepath.Dir(out)); err != nil {
			return fmt.Errorf("%s: %w", out, input.Cause(err))
		}
		// A file that does not exist yet, a device or a pipe can be no input that would be lost.
		written, err := os.Stat(out)
		if err != nil || !written.Mode().IsRegular() {
			continue
		}
		for _, in := range inputs {
			if read, err := os.Stat(in); err == nil && os.SameFile(read, written) {
				return fmt.Errorf("%s is read, too: write to another file", out)
			}
		}
	}
	return nil
}

// listed returns the pairs to compare: those of the manifest, or the first operand with each of the others. A pipe can be read
// once, so it is the reference of one other trace only.
func (c *Command) listed(streams console.Streams) ([]batch.Pair, error) {
	if c.Pairs != "" {
		return c.pairs(streams)
	}
	var pairs []batch.Pair
	for _, other := range c.Files[1:] {
		if c.Files[0] == "-" && other == "-" {
			return nil, errors.New("standard input cannot be both the reference and what is compared with it")
		}
		pairs = append(pairs, batch.Pair{Name: c.Files[0] + " " + other, Reference: c.Files[0], Other: other})
	}
	// A name that leads to nothing is left to the comparison, whose error names the file in the report of its pair.
	if len(pairs) > 1 {
		status, err := os.Stat(c.Files[0])
		if c.Files[0] == "-" || err == nil && !status.Mode().IsRegular() && !status.IsDir() {
			return nil, fmt.Errorf("%s can be read once only, and is the reference of %d traces: write it to a file first",
				c.Files[0], len(pairs))
		}
	}
	return pairs, nil
}

// pairs reads the manifest of --pairs, "-" being standard input, and returns the pairs of the shard.
func (c *Command) pairs(streams console.Streams) ([]batch.Pair, error) {
	part := batch.Whole
	if c.Shard != nil {
		part = *c.Shard
	}
	// Names in a manifest are relative to its folder, so that it can be moved along with its traces; one that comes by a pipe has
	// none.
	if c.Pairs == "-" {
		return batch.Manifest(streams.In, c.Pairs, ".", part)
	}
	f, err := os.Open(c.Pairs)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return batch.Manifest(f, c.Pairs, filepath.Dir(c.Pairs), part)
}

// merge sums up the results in the files that are the operands.
func (c *Command) merge(streams console.Streams) error {
	// --merge reads no trace, only results; the places of differences in them are those of the machine that has compared.
	if err := c.checkOutputs(nil); err != nil {
		return err
	}
	var all []*batch.Result
	for _, path := range c.Files {
		results, err := readResults(path, streams)
		if err != nil {
			return err
		}
		all = append(all, results...)
	}
	if len(all) == 0 {
		return errors.New("the files hold no results: nothing was compared")
	}
	all, err := batch.Merge(all)
	if err != nil {
		return err
	}
	results := newMatchResults(c, streams)
	// From here on they are results like those of a comparison: the same lines, files and exit status.
	for _, r := range all {
		if err := results.add(r); err != nil {
			return err
		}
	}
	return results.conclude()
}

// readResults reads a file that match --json has written, compressed or not, "-" being standard input. One that is cut off is
// refused as a whole: the pairs behind the cut would be reported as pairs that no machine has compared.
func readResults(path string, streams console.Streams) ([]*batch.Result, error) {
	// The results of a night may be compressed as traces are, by a shard's own pipe: match --json | zstd.
	source, err := input.OpenPacked(path, streams)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if source.Damage != nil {
		return nil, fmt.Errorf("%s: %w", source.Name, source.Damage)
	}
	return batch.Read(io.NewSectionReader(source, 0, source.Size()), source.Name)
}
