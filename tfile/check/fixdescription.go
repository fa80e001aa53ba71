package check

import (
	"bytes"
	"strings"

	"tracewell/tdesc"
	descriptions "tracewell/tdesc/check"
	"tracewell/tfile"
)

// fixDescription returns the target description in lines that GDB reads: itself if its lines can be broken, else anew, else
// none. One that makes GDB crash is left out.
func (x *fixer) fixDescription() string {
	// XML takes CR LF for LF (XML 1.0, section 2.11), and GDB takes a CR at the end of a line for a part of the line.
	doc := strings.ReplaceAll(x.header.Description, "\r\n", "\n")
	at := x.file.DefinitionsEnd()
	if starts := x.descriptionLines(); len(starts) > 0 {
		at = starts[0]
	}
	report := descriptions.Document([]byte(doc), tdesc.Options{})
	if doc != "" && report.Worst() == tdesc.Crashes {
		x.tell(at, "target description left out, on which GDB crashes")
		return ""
	}
	if fits(doc) {
		return doc
	}
	if broken, ok := breakLines(doc); ok {
		x.tell(at, "long lines of the target description broken where there are blanks")
		return broken
	}
	if report.Verdict != descriptions.Unreadable {
		if anew := string(bytes.TrimSuffix(report.Target.XML(), []byte("\n"))); fits(anew) {
			x.tell(at, "target description written anew, in shorter lines")
			return anew
		}
	}
	x.tell(at, "target description left out, the lines of which are too long")
	return ""
}

// descriptionLine is the most bytes of a description that one line has.
const descriptionLine = tfile.MaxLine - len("tdesc ")

// GDB 13.1 reads lines into a buffer of fixed size and refuses a file with a longer one.
func fits(doc string) bool {
	for line := range strings.SplitSeq(doc, "\n") {
		if len(line) > descriptionLine {
			return false
		}
	}
	return true
}

// breakLines puts line breaks in place of blanks, which mean the same in XML: inside a tag always, also in the value of an
// attribute, and between tags because no element of a description has text in which there are blanks.
func breakLines(doc string) (string, bool) {
	lines := strings.Split(doc, "\n")
	for i, line := range lines {
		var parts []string
		for len(line) > descriptionLine {
			// The blank itself becomes the line break, so it may stand one byte behind the longest line.
			blank := strings.LastIndexAny(line[:descriptionLine+1], " \t")
			if blank < 0 {
				return "", false
			}
			parts, line = append(parts, line[:blank]), line[blank+1:]
		}
		lines[i] = strings.Join(append(parts, line), "\n")
	}
	return strings.Join(lines, "\n"), true
}
