package dap

import (
	"fmt"
	"strings"
	"sync"
	"time"

	protocol "github.com/google/go-dap"

	"tracewell/internal/text"
)

// mostLines is how many lines of log points a second reach the console. An editor that gets more stops answering its user.
const mostLines = 50

// limiter counts lines, and lets through as many as a console bears.
type limiter struct {
	mu     sync.Mutex
	second time.Time
	lines  int // in that second
	left   int // out since the last that was let through
	timer  *time.Timer
	report func(left int)
}

// allows reports whether a line is to be shown. How many are left out is reported at the end of their second.
func (l *limiter) allows(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.second) >= time.Second {
		l.second, l.lines = now, 0
	}
	if l.lines < mostLines {
		l.lines++
		return true
	}
	if l.left++; l.left == 1 {
		l.timer = time.AfterFunc(time.Second-now.Sub(l.second), l.flush)
	}
	return false
}

// flush reports lines that were left out.
func (l *limiter) flush() {
	l.mu.Lock()
	left := l.left
	l.left = 0
	l.mu.Unlock()
	if left > 0 {
		l.report(left)
	}
}

// log prints the line of a log point at a moment, unless there are too many.
func (s *session) log(n *names, m moment, message *logMessage) {
	if !s.limiter.allows(time.Now()) {
		return
	}
	c := n.innermost(m)
	body := protocol.OutputEventBody{Category: "stdout", Output: n.line(&c, message) + "\n"}
	if c.File != "" {
		body.Source, body.Line = s.source(c.File), s.client.toClient(c.Line)
	}
	s.tell("output", body)
}

// leftOut tells how many lines were not printed.
func (s *session) leftOut(left int) {
	s.say("console", "… %d more hits of log points: at most %d lines a second are printed", left, mostLines)
}

// line puts the values of a call into a message.
func (n *names) line(c *call, message *logMessage) string {
	var b strings.Builder
	for _, p := range message.parts {
		if p.expression == "" {
			b.WriteString(p.literal)
			continue
		}
		found, err := n.evaluate(c, p.expression)
		switch {
		case err != nil:
			fmt.Fprintf(&b, "<%s>", oneLine(err))
		case found.plain != nil:
			b.WriteString(text.Visible(found.plain()))
		default:
			b.WriteString(found.value)
		}
	}
	return b.String()
}
