package tfile

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Thread is the name that a thread had from some time on. Nothing in the format has names of threads; so Tracewell notes them in
// comments of the target description, as it does Objects.
type Thread struct {
	TID  int64
	From int64 // in microseconds since 1970; 0 for its first name
	Name string
}

const (
	threadOpen, threadClose = "<!-- thread ", " -->"
	// threadRoom is the length of the comment of any thread: numbers of 19 digits, and 15 bytes of a name, each of which may take
	// three.
	threadRoom = len(threadOpen) + 19 + 1 + 19 + 1 + 3*15 + len(threadClose)
)

// Comment is the line of a target description that says so. All have the same length, so that one can take the place of
// ThreadPlace.
func (t Thread) Comment() string {
	// What a comment cannot have is escaped as in a URL, and so is "-", two of which end it.
	name := strings.ReplaceAll(url.PathEscape(t.Name), "-", "%2D")
	return padded(fmt.Sprintf("%s%d %d %s", threadOpen, t.TID, t.From, name))
}

// ThreadPlace is a line of a target description that a Thread can be put into while the file is written.
func ThreadPlace() string { return padded(threadOpen) }

func padded(line string) string {
	return fmt.Sprintf("%-*s%s", threadRoom-len(threadClose), line, threadClose)
}

// WithThreads is a target description with these names of threads in place of those that it has, and without room for more.
func WithThreads(description string, threads []Thread) string {
	lines := slices.DeleteFunc(strings.Split(description, "\n"), func(line string) bool {
		return len(line) == threadRoom && strings.HasPrefix(line, threadOpen) && strings.HasSuffix(line, threadClose)
	})
	for _, t := range threads {
		lines = append(lines, t.Comment())
	}
	return strings.Join(lines, "\n")
}

// threadComment finds such lines.
var threadComment = regexp.MustCompile(`(?m)^<!-- thread (\d{1,19}) (\d{1,19}) (\S+) +-->$`)

// Threads returns what a target description says of the names of threads, in the order in which they were noted.
func Threads(description string) []Thread {
	var threads []Thread
	for _, m := range threadComment.FindAllStringSubmatch(description, -1) {
		name, err := url.PathUnescape(m[3])
		if err != nil {
			continue
		}
		tid, _ := strconv.ParseInt(m[1], 10, 64)
		from, _ := strconv.ParseInt(m[2], 10, 64)
		threads = append(threads, Thread{tid, from, name})
	}
	return threads
}
