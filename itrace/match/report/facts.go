package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"tracewell/internal/text"
	"tracewell/itrace/match"
)

// fact is something that there is to know of a comparison as a whole, on one line or several.
type fact struct {
	key   string
	words []string
}

// facts are the counts, the rules and the time.
func facts(r *match.Report) (list []fact) {
	add := func(key string, words ...string) { list = append(list, fact{key, words}) }
	if len(r.Counts) > 0 {
		add("differences", strings.Join(classes(r), ", "))
	}
	if r.Consequences > 0 {
		add("consequences", fmt.Sprintf("%d more, that follow from values that were wrong before", r.Consequences))
	}
	add("compared", countsText(r.Compared))
	for side := range r.Traces {
		add([2]string{"reference", "other"}[side], name(r, side)+": "+traceText(&r.Traces[side]))
	}
	if r.Profile != "" {
		add("profile", printable(r.Profile, nameWidth))
	}
	if len(r.Rules) > 0 {
		add("rules", rulesText(r)...)
	}
	if len(r.NotTold) > 0 {
		add("not compared", untold(r)...)
	}
	for side := range r.Traces {
		if r.Traces[side].Unknown > 0 {
			add("unreadable", unreadable(r, side)...)
		}
	}
	add("time", speed(r))
	return list
}

// classes lists the counts of the classes, the most frequent first.
func classes(r *match.Report) (texts []string) {
	names := slices.SortedFunc(maps.Keys(r.Counts), func(a, b match.Class) int {
		return cmp.Or(cmp.Compare(r.Counts[b], r.Counts[a]), cmp.Compare(a, b))
	})
	for _, class := range names {
		texts = append(texts, fmt.Sprintf("%d %s", r.Counts[class], printable(string(class), nameWidth)))
	}
	return texts
}

func countsText(c match.Counts) string {
	return fmt.Sprintf("%s, %d register and %d memory records", text.Plural(c.Instructions, "instruction"), c.Registers, c.Memory)
}

func traceText(t *match.Trace) string {
	words := fmt.Sprintf("%s, %s: %s", text.Plural(t.Lines, "line"), text.Plural(t.Bytes, "byte"), countsText(t.Records))
	if t.Dialect != "" {
		words += ", " + printable(t.Dialect, nameWidth)
	}
	return words
}

// rulesText is the rules in force, and how often each made a difference.
func rulesText(r *match.Report) (texts []string) {
	for _, u := range r.Rules {
		texts = append(texts, printable(u.Rule, nameWidth)+": "+firings(u))
	}
	return texts
}

// untold is what was not compared, and why.
func untold(r *match.Report) (texts []string) {
	for _, u := range r.NotTold {
		side := reference
		if u.By == "other" {
			side = other
		}
		texts = append(texts, fmt.Sprintf("%s: not told by %s (%s)", printable(u.What, nameWidth), name(r, side),
			text.Plural(u.Records, "record")))
	}
	return texts
}

// firings says how often a rule made a difference.
func firings(u match.RuleUse) string {
	if u.Fired == 0 {
		return "never"
	}
	return text.Plural(u.Fired, "time")
}

// speed is the time that a comparison took, and how much it read in it.
func speed(r *match.Report) string {
	words := fmt.Sprintf("%.3g s", seconds(r))
	if bytes := float64(r.Traces[reference].Bytes) + float64(r.Traces[other].Bytes); seconds(r) > 0 && bytes > 0 {
		words += fmt.Sprintf(", %.0f MB/s", bytes/seconds(r)/1e6)
	}
	return words
}

// samples is how many unreadable lines are shown of each trace.
const samples = 5

// unreadable tells of the lines of a trace that could not be read.
func unreadable(r *match.Report, side int) []string {
	t := &r.Traces[side]
	texts := []string{fmt.Sprintf("%s of %s", text.Plural(t.Unknown, "line"), name(r, side))}
	shown := t.Samples[:min(len(t.Samples), samples)]
	for _, s := range shown {
		texts = append(texts, printable(s, noteWidth))
	}
	if n := t.Unknown - int64(len(shown)); n > 0 && len(shown) > 0 {
		texts = append(texts, fmt.Sprintf("… and %d more", n))
	}
	return texts
}

// seconds is how long the comparison took.
func seconds(r *match.Report) float64 {
	if math.IsNaN(r.Seconds) || math.IsInf(r.Seconds, 0) {
		return 0
	}
	return max(r.Seconds, 0)
}
