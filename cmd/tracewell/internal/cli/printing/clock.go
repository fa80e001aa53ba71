package printing

import (
	"fmt"
	"time"

	"tracewell/trace"
	"tracewell/view"
)

// Times are taken for Unix times between these two. gdbserver gives the time since the machine was started, which will not be that
// long.
var (
	unixFrom = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	unixTo   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
)

// IsUnixTime reports whether a number of microseconds counts from 1970.
func IsUnixTime(microseconds int64) bool { return unixFrom <= microseconds && microseconds < unixTo }

// ClockFormat is a time of day.
const ClockFormat = "15:04:05.000000"

// AppendClock appends the time that $trace_timestamp is: the local time of day, or seconds on the clock of another server,
// "+5023.170001".
func AppendClock(dst []byte, microseconds int64) []byte {
	if IsUnixTime(microseconds) {
		return time.UnixMicro(microseconds).AppendFormat(dst, ClockFormat)
	}
	if microseconds < 0 {
		return fmt.Appendf(dst, "%d", microseconds) // no clock
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
