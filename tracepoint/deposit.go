package tracepoint

import (
	"fmt"

	"tracewell/target"
	"tracewell/tfile"
)

// What a Collector deposits. A deposit that the target counts in nanoseconds is taken in as many: the lock is taken once for all
// deposits of a call, a definition is looked up once in a row, a frame is gone through once, to see that it is whole, and the
// Sink copies many at once. All else is commit, as for a hit here.

// recent finds the definitions of the tracepoints whose deposits came last. It lives as long as a call of deposit, during which no
// definition changes.
type recent [16]*definition

// deposit takes what the Collector made of hits.
func (e *Engine) deposit(list []target.Deposit) target.Verdict {
	e.state.Lock()
	v := e.accept(list)
	printed := e.printed
	e.printed = nil
	e.state.Unlock()
	for _, text := range printed { // which may wait
		e.print(text)
	}
	if v&target.Halt != 0 {
		e.bringBack()
	}
	return v
}

// accept is deposit with state held. A run ends behind the last deposit of a hit, and what comes behind that is dropped.
func (e *Engine) accept(list []target.Deposit) target.Verdict {
	if e.phase == idle {
		return target.Halt
	}
	h := &e.deposits
	if e.phase == running && h.run != e.runs {
		*h = hit{run: e.runs}
	}
	within := false // a hit of which there are more deposits in the next call
	var known recent
	for i := range list {
		made := &list[i]
		e.acceptOne(h, made, &known)
		if within = made.More && made.Err == nil; !within {
			h.full = false
			if e.ender == h {
				break
			}
		}
	}
	if err := e.handOver(nil); err != nil {
		e.end(h, endingBy(err))
	}
	if e.phase != running || within || len(list) == 0 {
		return target.Continue
	}
	return e.finish(h)
}

// handOver gives the Sink a frame of this call of deposit, or none to give it what is left. Frames that lie one behind the other in
// memory, as those of a Collector do that makes many, are handed over together and not copied here.
func (e *Engine) handOver(frame []byte) (err error) {
	n := len(e.deposited)
	if n > 0 && len(frame) > 0 && cap(e.deposited)-n >= len(frame) && &e.deposited[:n+1][n] == &frame[0] {
		e.deposited = e.deposited[:n+len(frame)]
		return nil
	}
	if n > 0 {
		err = e.layout.Sink.Take(e.deposited)
	}
	e.deposited = frame
	return err
}

// acceptOne checks a deposit and counts it for its tracepoint.
func (e *Engine) acceptOne(h *hit, made *target.Deposit, known *recent) {
	if made.Err != nil {
		e.lose(h, 0, made.Err)
		return
	}
	slot := &known[uint(made.Key.Number)%uint(len(known))]
	if *slot == nil || (*slot).Addr != made.Key.Addr || (*slot).Number != made.Key.Number {
		*slot = e.definition(made.Key)
	}
	d := *slot
	kinds, err := e.checkDeposit(made)
	switch {
	case err != nil:
		e.lose(h, made.Key.Number, err)
	case d != nil:
		sum(&d.deposited, made)
		if e.phase == running {
			e.printed = append(e.printed, made.Printed...)
		}
		e.acceptFor(h, d, made, kinds)
	}
}

// sum adds a deposit to a tally. What comes while the tracepoints are installed does not count in the run but has been counted by
// the Collector, whose tallies these are subtracted from.
func sum(sum *target.Tally, made *target.Deposit) {
	sum.Errors += uint64(len(made.Failures))
	sum.Lost += made.Lost
	if made.Frame != nil {
		sum.Hits++
		sum.Frames++
		sum.Usage += uint64(len(made.Frame) - tfile.FrameHeader)
	}
}

// acceptFor commits a deposit. The pass count of its tracepoint is the one that the Collector was told.
func (e *Engine) acceptFor(h *hit, d *definition, made *target.Deposit, kinds tfile.Kinds) {
	var c catch
	c.d, c.pass, c.pc = d, d.Pass, d.Addr
	c.frame, c.failures, c.static = made.Frame, made.Failures, kinds.Has(tfile.BlockStatic)
	if d.offloaded != nil {
		c.pass = d.offloaded.Pass
	}
	if made.Frame == nil {
		if len(made.Failures) == 0 {
			return // nothing but a number of lost frames
		}
		c.condition = made.Failures[0]
	}
	e.commit(h, &c)
}

// checkDeposit returns what is in the frame of a deposit, if it has one, and refuses one that is not whole: the trace buffer and
// the trace file rely on each.
func (e *Engine) checkDeposit(made *target.Deposit) (tfile.Kinds, error) {
	if made.Frame == nil {
		return 0, nil
	}
	n, kinds, err := e.check.Check(made.Frame)
	if err == nil && n == made.Key.Number {
		return kinds, nil
	}
	if err == nil {
		err = fmt.Errorf("it names tracepoint %d", n)
	}
	return 0, fmt.Errorf("a frame of tracepoint %d at %s from the target's collector: %w", made.Key.Number, made.Key.Addr, err)
}
