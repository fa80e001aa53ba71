package tracepoint

import (
	"fmt"

	"tracewell/target"
	"tracewell/tfile"
)

// What a Collector deposits. A hit that costs the program nanoseconds is taken in as many: the lock is taken once for all deposits
// of a call, a definition is looked up once for a deposit, a frame is gone through once, to see that it is whole, and the Sink
// copies many at once. Of the hits of one deposit those are counted together of which none can end the run; all else is
// commit, as for a hit here.

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
	if err := e.handOver(nil, 0); err != nil {
		e.end(h, endingBy(err))
	}
	if e.phase != running || within || len(list) == 0 {
		return target.Continue
	}
	return e.finish(h)
}

// handOver gives the Sink n frames of this call of deposit, or none to give it what is left. Frames that lie one behind the other
// in memory, as those of a Collector do that makes many, are handed over together and not copied here.
func (e *Engine) handOver(frames []byte, n int) (err error) {
	held := len(e.deposited)
	if held > 0 && len(frames) > 0 && cap(e.deposited)-held >= len(frames) && &e.deposited[:held+1][held] == &frames[0] {
		e.deposited = e.deposited[:held+len(frames)]
		e.inHand += n
		return nil
	}
	if held > 0 {
		err = e.layout.Sink.Take(e.deposited, e.inHand)
	}
	e.deposited, e.inHand = frames, n
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
	sum.Hits += uint64(made.Hits)
	sum.Frames += uint64(made.Hits)
	sum.Usage += uint64(len(made.Frames) - made.Hits*tfile.FrameHeader)
}

// acceptFor commits a deposit. The pass count of its tracepoint is the one that the Collector was told.
func (e *Engine) acceptFor(h *hit, d *definition, made *target.Deposit, kinds tfile.Kinds) {
	var c catch
	c.d, c.pass, c.pc = d, d.Pass, d.Addr
	c.failures, c.static = made.Failures, kinds.Has(tfile.BlockStatic)
	if d.offloaded != nil {
		c.pass = d.offloaded.Pass
	}
	if made.Hits == 0 {
		if len(made.Failures) > 0 { // or there is nothing but a number of lost frames
			c.condition = made.Failures[0]
			e.commit(h, &c)
		}
		return
	}
	length := len(made.Frames) / made.Hits
	rest := made.Frames[e.acceptMany(h, &c, made.Frames, length)*length:]
	for ; len(rest) > 0 && (e.ender != h || made.Hits == 1); rest = rest[length:] {
		c.frame = rest[:length]
		e.commit(h, &c)
	}
}

// acceptMany commits the first of many frames, as commit would one by one, as long as none can end the run. It returns how many.
func (e *Engine) acceptMany(h *hit, c *catch, frames []byte, length int) (n int) {
	most := uint64(len(frames)/length - 1)
	if c.pass > 0 {
		most = min(most, more(c.pass, c.d.Hits+1))
	}
	if e.limit > 0 {
		most = min(most, more(uint64(e.limit), uint64(e.made)+1))
	}
	if most == 0 || c.failures != nil || c.static || length > e.buffer.size || e.over(h) {
		return 0
	}
	n = int(most)
	if !e.layout.SinkOnly {
		for n = 0; n < int(most) && e.buffer.append(frames[n*length:][:length], c.d.Number, c.pc, false) == nil; n++ {
		}
	}
	h.counted = true
	c.d.Hits += uint64(n)
	c.d.frames += uint64(n)
	c.d.Usage += uint64(n * (length - tfile.FrameHeader))
	e.made += int64(n)
	if e.layout.Sink != nil {
		if err := e.handOver(frames[:n*length], n); err != nil {
			h.full = true
			e.end(h, endingBy(err))
		}
	}
	return n
}

// checkDeposit returns what is in the frames of a deposit, if it has any, and refuses those that are not whole: the trace buffer
// and the trace file rely on each.
func (e *Engine) checkDeposit(made *target.Deposit) (kinds tfile.Kinds, err error) {
	if made.Hits == 0 && made.Frames == nil {
		return 0, nil
	}
	hits := max(made.Hits, 1)
	length := len(made.Frames) / hits
	for i := range hits {
		frame := made.Frames[i*length:]
		if i < hits-1 {
			frame = frame[:length]
		}
		n, has, err := e.check.Check(frame)
		if err == nil && n != made.Key.Number {
			err = fmt.Errorf("it names tracepoint %d", n)
		}
		if err != nil {
			return 0, fmt.Errorf("a frame of tracepoint %d at %s from the target's collector: %w", made.Key.Number, made.Key.Addr, err)
		}
		kinds |= has
	}
	return kinds, nil
}
