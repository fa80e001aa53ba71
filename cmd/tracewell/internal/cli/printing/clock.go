package printing

import (
	"fmt"
	"time"

	"tracewell/trace"
	"tracewell/view"
)

// Times are taken for Unix times between these two, the years 2000 and 2200. The trace file format does not say what a time
// counts from. In files of Tracewell it is 1970. gdbserver reads a monotonic clock, which on Linux begins when the machine is
// started: 30 years of uptime would be needed to confuse the two.
var (
	unixFrom = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	unixTo   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
)

// IsUnixTime reports whether a number of microseconds counts from 1970.
func IsUnixTime(microseconds int64) bool { return unixFrom <= microseconds && microseconds < unixTo }

// ClockFormat is a time of day, without the date: frames of one run are seconds or hours apart, and the date is in its status.
const ClockFormat = "15:04:05.000000"

// AppendClock appends the time that $trace_timestamp is: the local time of day, or seconds on the clock of another server,
// "+5023.170001".
func AppendClock(dst []byte, microseconds int64) []byte {
	if IsUnixTime(microseconds) {
		return time.UnixMicro(microseconds).AppendFormat(dst, ClockFormat)
	}
	if microseconds < 0 {
		return fmt.Appendf(dst, "%d", microseconds) // no clock counts below 0, but a file may hold any 64 bits
	}
	return fmt.Appendf(dst, "+%d.%06d", microseconds/1e6, microseconds%1e6)
}

// stampOf finds $trace_timestamp among the variables of a frame, false if the frame has none.
func stampOf(collected []view.Variable) (microseconds int64, ok bool) {
	for _, v := range collected {
		if v.Number == int32(trace.Timestamp) {
			return v.Value, true
		}
	}
	return 0, false
}
