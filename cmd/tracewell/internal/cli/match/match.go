// Package match is "tracewell match": pairs of execution traces compared, here or as shards on many machines, and what came of it.
package match

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tracewell/cmd/tracewell/internal/cli/console"
	"tracewell/cmd/tracewell/internal/cli/flags"
	"tracewell/cmd/tracewell/internal/cli/input"
	"tracewell/internal/text"
	"tracewell/itrace/dialects"
	"tracewell/itrace/match"
)

// Command is "tracewell match".
type Command struct {
	Files []string `arg:"" optional:"" name:"trace" help:"The reference and what to compare with it, each by itself: files, compressed or not, or pipes; - is standard input."`

	originalOptions
	meaningOptions
	outputOptions
	pairsOptions
	serveOptions
}

// outputOptions say what a comparison puts where.
type outputOptions struct {
	JSON           bool           `group:"Output:" name:"json" xor:"form" help:"Print one JSON object a line for each comparison."`
	JUnit          string         `group:"Output:" name:"junit" placeholder:"FILE" help:"Write the outcome as JUnit XML, for systems that run tests."`
	HTML           string         `group:"Output:" name:"html" placeholder:"FILE" help:"Write the outcome as one web page that needs nothing else."`
	Quiet          bool           `group:"Output:" short:"q" xor:"form" help:"Print a line for what is not equal, and nothing else."`
	MaxDifferences flags.Positive `group:"Output:" default:"100" placeholder:"N" help:"Describe N differences; all are counted (${default})."`
	Context        flags.Positive `group:"Output:" default:"8" placeholder:"N" help:"Show N instructions before a difference, 1024 at most (${default})."`
}

// pairsOptions are about many comparisons.
type pairsOptions struct {
	Pairs string         `group:"Many pairs:" placeholder:"FILE" help:"Compare the pairs that a file lists: REFERENCE and OTHER on a line, separated by blanks, or by a tab if the names have blanks, which may be quoted as well; relative to the folder of the file; # begins a comment."`
	Jobs  flags.Positive `group:"Many pairs:" short:"j" default:"1" placeholder:"N" help:"Compare N pairs at the same time (${default})."`
	Shard *shard         `group:"Many pairs:" placeholder:"I/N" help:"Of the pairs take every Nth only, from pair I on: 0/N, 1/N to N-1/N are all of them."`
	Merge bool           `group:"Many pairs:" help:"The operands are files that match --json has written, as of all shards: sum them up. A pair that is missing is a failure."`
}

// Examples implements flags.Exampler.
func (*Command) Examples() string {
	return `  tracewell match iss.log rtl.log                          # the first difference, what led to it, and counts
  tracewell match iss.log.gz rtl.log.zst -w 5 -fds         # options as of Trace Matcher
  tracewell match iss.log rtl.log --alias mips --ignore 'reg:c0_count' --ignore mem:10000000-1000ffff
  tracewell match <(iss prog.elf) <(rtl prog.elf)          # live, as they come
  tracewell match iss.log rtl.log --serve :2345,:2346 --exec prog.elf        # then look at both sides in GDB
  tracewell match iss.log rtl.log --json | jq '.differences[0]'
  tracewell match --pairs nightly.txt -j 8 --junit nightly.xml --html nightly.html
  tracewell match --pairs nightly.txt --shard 2/10 --json > shard-2.json     # one of ten machines
  tracewell match --merge shard-*.json --junit nightly.xml                   # all of them

Exit status: 0 all are equal, 1 some differ, 2 some could not be compared, or there was nothing to compare (of a shard without pairs, 0).
`
}

// Run implements kong's command.
func (c *Command) Run(streams console.Streams) error {
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
	results := newMatchResults(c, streams)
	if len(pairs) == 0 {
		fmt.Fprintf(streams.Err, "tracewell: %s has no pair for shard %v\n", text.Visible(c.Pairs), c.Shard)
	}
	var last *matchResult
	for r := range c.compareAll(ctx, pairs, streams) {
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
	stop()
	return errors.Join(c.serve(last, streams), outcome)
}

// check refuses options and operands that contradict one another.
func (c *Command) check() error {
	switch {
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

// checkOutputs refuses, before the work begins, files that cannot be written where they are wanted, and those that are read.
func (c *Command) checkOutputs(pairs []tracePair) error {
	inputs := append([]string{c.Pairs}, c.Files...)
	for _, pair := range pairs {
		inputs = append(inputs, pair.reference, pair.other)
	}
	for _, out := range []string{c.JUnit, c.HTML} {
		if out == "" {
			continue
		}
		if _, err := os.Stat(filepath.Dir(out)); err != nil {
			return fmt.Errorf("%s: %w", out, input.Cause(err))
		}
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

// listed returns the pairs to compare: those of the manifest or of the operands.
func (c *Command) listed(streams console.Streams) ([]tracePair, error) {
	if c.Pairs != "" {
		return readPairs(c.Pairs, c.Shard, streams)
	}
	var pairs []tracePair
	for _, other := range c.Files[1:] {
		if c.Files[0] == "-" && other == "-" {
			return nil, errors.New("standard input cannot be both the reference and what is compared with it")
		}
		pairs = append(pairs, tracePair{name: c.Files[0] + " " + other, reference: c.Files[0], other: other})
	}
	if len(pairs) > 1 {
		status, err := os.Stat(c.Files[0])
		if c.Files[0] == "-" || err == nil && !status.Mode().IsRegular() && !status.IsDir() {
			return nil, fmt.Errorf("%s can be read once only, and is the reference of %d traces: write it to a file first",
				c.Files[0], len(pairs))
		}
	}
	return pairs, nil
}

// compare compares one pair. told learns how many bytes of the files have been read.
func (c *Command) compare(ctx context.Context, pair tracePair, told func(done int64), streams console.Streams) *matchResult {
	result := &matchResult{Result: match.Result{Name: pair.name, Pair: pair.place}}
	var traces [2]*input.Stream
	for i, path := range []string{pair.reference, pair.other} {
		t, err := input.OpenStream(path, streams)
		if err != nil {
			result.Report = failedReport(pair, err)
			return result
		}
		defer t.Close()
		traces[i] = t
	}
	if err := input.CheckPair(traces[0], traces[1]); err != nil {
		result.Report = failedReport(pair, err)
		return result
	}
	options := c.settings()
	options.Progress = func(int64, int64) { told(traces[0].Raw.Done.Load() + traces[1].Raw.Done.Load()) }
	reference, other := traces[0].Input(), traces[1].Input()
	reference.Dialect, other.Dialect = c.Dialect.Dialect, c.Dialect.Dialect
	result.Report = match.Compare(ctx, reference, other, dialects.All, options)
	if ctx.Err() != nil && result.Verdict == match.Failed {
		result.Reason = fmt.Sprintf("interrupted behind %s", text.Plural(result.Compared.Instructions, "instruction"))
	}
	for _, t := range traces {
		if changed := t.Changed(); changed != "" {
			result.notes = append(result.notes, text.Visible(t.Name)+": warning: "+changed)
		}
	}
	if os.SameFile(traces[0].Status, traces[1].Status) {
		result.notes = append(result.notes, text.Visible(pair.name)+": warning: both are the same file")
	}
	return result
}

// failedReport is the report of traces that could not even be opened.
func failedReport(pair tracePair, err error) *match.Report {
	r := &match.Report{Verdict: match.Failed, Reason: err.Error()}
	r.Differences, r.Counts = []match.Difference{}, map[match.Class]int64{}
	r.Traces[0].File, r.Traces[1].File = pair.reference, pair.other
	return r
}
