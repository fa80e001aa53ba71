package printing

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// barWidth is the most that the bar of a histogram takes, in characters. It is the same for a terminal, a pipe and a file, so
// that the output of two runs can be compared with diff.
const barWidth = 40

// WriteBars draws counts below one another, the names aligned on the right as numbers are. Printf counts a width in code points,
// so that the ellipsis between two bounds counts as one.
func WriteBars(out io.Writer, names []string, counts []int) {
	// All rows are known, so the columns are as wide as they have to be.
	width, most, digits := 0, 0, 0
	for i, count := range counts {
		width, most = max(width, len([]rune(names[i]))), max(most, count)
		digits = max(digits, len(strconv.Itoa(count)))
	}
	for i, count := range counts {
		fmt.Fprintf(out, "    %*s  %*d  %s\n", width, names[i], digits, count, Bar(count, most))
	}
}

// Bar draws a count as long as it is beside the greatest, in eighths of a character: Unicode has block elements of one eighth of a
// cell up to a whole one. The length is rounded up, so that a count of 1 beside a million can be seen; 0 has no bar.
func Bar(count, most int) string {
	const eighths = 8
	length := int(math.Ceil(float64(count) / float64(max(most, 1)) * barWidth * eighths))
	whole := strings.Repeat("█", length/eighths)
	return whole + strings.TrimSpace(string([]rune(" ▏▎▍▌▋▊▉")[length%eighths]))
}
