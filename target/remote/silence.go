package remote

import (
	"io"
	"sync"
	"time"
)

// silence is the wait for the stop that an interrupt asks for. Without an interrupt a stop may take for ever; with one, a stub that
// says nothing is lost.
type silence struct {
	mu    sync.Mutex // held for moments only: it is taken while a write may be stuck
	timer *time.Timer
	over  bool
}

// begin limits the wait for a stop. It is before the interrupt is written, as that may get stuck, too.
func (s *silence) begin(conn io.ReadWriteCloser, patience time.Duration) {
	limited, ok := conn.(interface{ SetDeadline(time.Time) error })
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var timer *time.Timer
	timer = time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.timer == timer { // the stop has not come meanwhile, behind which the connection has other deadlines
			s.over = true
			_ = limited.SetDeadline(time.Now()) // what fails of a connection that is closed
		}
	})
	s.timer = timer
}

// end ends the wait, and reports whether that was over.
func (s *silence) end() (over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.timer != nil {
		s.timer.Stop()
	}
	over = s.over
	s.timer, s.over = nil, false
	return over
}
