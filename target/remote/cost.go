package remote

import (
	"fmt"
	"strings"
	"time"

	"tracewell/internal/text"
	"tracewell/target"
)

// What hits cost. How long a stub takes to resume and to stop its program differs by a factor of ten between machines, so it is
// measured where there is something to measure: stops there are only once the program has run.

// hitCost is what hits have cost on this connection.
type hitCost struct {
	since time.Time // of the stop of the hit under way; zero for none
	spent time.Duration
	hits  int
}

// begin notes that the stop at a time is a hit's.
func (c *hitCost) begin(at time.Time) {
	if c.since.IsZero() {
		c.since = at
	}
}

// end notes that the program goes on.
func (c *hitCost) end() {
	if !c.since.IsZero() {
		c.spent, c.hits, c.since = c.spent+time.Since(c.since), c.hits+1, time.Time{}
	}
}

// mean is how long the program stood still for a hit: until it was resumed, and for the way to the stop and back at its quickest.
func (t *Target) mean() time.Duration {
	return t.quickest + t.costs.spent/time.Duration(t.costs.hits)
}

// enoughHits is how many make a mean.
const enoughHits = 10

// packetsAHit is how many round trips a hit takes at least, beside that of continuing: registers, memory, and what passes.
const packetsAHit = 3

// estimate is what a hit costs, in words, and by what that is known.
func (t *Target) estimate() (cost, source string, err error) {
	packet, err := t.cost(t.current)
	if err != nil {
		return "", "", err
	}
	hit, stops := packetsAHit*packet, time.Duration(1)
	if t.emulation.steps() {
		stops = 2
	}
	about := func(d time.Duration) string { return "about " + d.Round(10*time.Microsecond).String() }
	switch guess := time.Duration(t.profile.StopMicroseconds) * time.Microsecond; {
	case t.costs.hits >= enoughHits:
		return about(t.mean()), fmt.Sprintf("the mean of %d so far", t.costs.hits), nil
	case t.quickest > 0:
		return about(hit + stops*t.quickest), "by the stops so far", nil
	case guess > 0:
		return about(hit + stops*guess), "until there are hits a guess", nil
	}
	return "more than " + hit.Round(10*time.Microsecond).String(), "without its stops, of which nothing is known yet", nil
}

// Advice implements target.Passage.
func (t *Target) Advice() string {
	var b strings.Builder
	if t.quiet {
		return ""
	}
	_ = t.do(func() error {
		stops, hard, own := 0, 0, 0
		for _, p := range t.places {
			if p.location {
				stops++
			}
			if p.location && p.kind == target.Hardware {
				hard++
			}
		}
		if t.collector != nil {
			own = len(t.collector.offloaded)
		}
		if own > 0 {
			fmt.Fprintf(&b, "%d of %s by tracepoints of the stub's own (%s).\n", own, text.Plural(own+stops, "location"), t.profile.Name)
		}
		if stops > 0 {
			cost, source, err := t.estimate()
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, "Each hit of %s stops the program, for %s at this stub (%s; %s).\n", text.Plural(stops, "location"), cost,
				t.profile.Name, source)
		}
		if hard > 0 {
			fmt.Fprintf(&b, "%d of them take a hardware breakpoint.\n", hard)
		}
		return nil
	})
	return b.String()
}

// Spent implements target.Passage.
func (t *Target) Spent() (line string) {
	_ = t.do(func() error {
		if n := t.costs.hits; n > 0 {
			line = fmt.Sprintf("%s stopped the program, for %v each on average.\n", text.Plural(n, "hit"), t.mean().Round(time.Microsecond))
		}
		return nil
	})
	return line
}
