package tdesc_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"tracewell/tdesc"
)

// hostile are documents that are made to cost much, with what their error says.
func hostile() map[string]struct{ doc, err string } {
	filled := func(head, piece, tail string) string {
		return head + strings.Repeat(piece, (tdesc.MaxBytes-len(head)-len(tail))/len(piece)) + tail
	}
	var laughs strings.Builder
	laughs.WriteString("<!DOCTYPE target [<!ENTITY l0 \"lol\">")
	for i := range 9 {
		fmt.Fprintf(&laughs, "<!ENTITY l%d \"%s\">", i+1, strings.Repeat(fmt.Sprintf("&l%d;", i), 10))
	}
	laughs.WriteString("]><target><architecture>&l9;</architecture></target>")
	return map[string]struct{ doc, err string }{
		"billion laughs":   {laughs.String(), "the entities that are referred to have more than 1048576 bytes"},
		"100 MB":           {strings.Repeat("<target>", 100<<20/8), "more than the 1048576 allowed"},
		"deep nesting":     {filled("<target>", "<a>", ""), "nested deeper than 256"},
		"many attributes":  {filled("<target ", `a="" `, ""), "attribute a of <target> comes twice"},
		"more attributes":  {"<target " + numberedAttributes(300) + "/>", "more than 256 attributes"},
		"not UTF-8":        {"<target><architecture>\xe4</architecture></target>", "1:23: the byte 0xe4 is not part of a character"},
		"UTF-16":           {"\xff\xfe<\x00t\x00/\x00>\x00", "the document is in UTF-16"},
		"NUL":              {"<target>\x00</target>", "1:9: the control character 0x00"},
		"endless comment":  {filled("<target><!--", "-", ""), "the document ends inside a comment"},
		"endless value":    {filled("<target a='", "x", ""), "has no closing quote"},
		"references":       {filled("<target a='", "&#65;", ""), "has no closing quote"},
		"unknown elements": {filled("<target>", "<a/>", "<"), "no name of an element"},
		"count":            {feature(`<vector id="v" type="int8" count="99999999999999999999"/>`), "is not a number"},
		"doctype":          {filled("<!DOCTYPE target [", "<", ""), "no declaration in the brackets of the document type"},
		"blank doctype":    {filled("<!DOCTYPE target [", " ", ""), "ends inside the document type declaration"},
		"many entities":    {filled("<!DOCTYPE target [", "<!ENTITY a 'b'>", ""), "ends inside the document type declaration"},
		"entity chain":     {entityChain(30000), "entities refer to each other deeper than 64 times"},
		"empty entities":   {filled("<!DOCTYPE target [<!ENTITY a ''>]><target>", "&a;", ""), "the document ends inside <target>"},
		"Latin-1":          {filled("<?xml version='1.0' encoding='ISO-8859-1'?><target>", "\xe4<!---->", ""), "the document ends inside <target>"},
		"long name":        {"<target>" + strings.Repeat("n", 1<<19), "the document ends inside <target>"},
		"compatible": {
			"<target>" + numberedElements(30000) + "<compatible>1</compatible></target>", `compatible "1" comes twice`,
		},
	}
}

// entityChain is a document with entities each of which stands for the one before it.
func entityChain(n int) string {
	var b strings.Builder
	b.WriteString("<!DOCTYPE target [<!ENTITY e0 ''>")
	for i := range n {
		fmt.Fprintf(&b, "<!ENTITY e%d '&e%d;'>", i+1, i)
	}
	return b.String() + fmt.Sprintf("]><target><osabi>&e%d;</osabi></target>", n)
}

func numberedAttributes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " a%d=''", i)
	}
	return b.String()
}

func numberedElements(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<compatible>%d</compatible>", i)
	}
	return b.String()
}

// running is how long this thread has run, whatever else the machine had to do meanwhile.
func running(t *testing.T) time.Duration {
	t.Helper()
	stat, err := os.ReadFile("/proc/thread-self/schedstat")
	if err != nil {
		t.Fatal(err)
	}
	nanoseconds, err := strconv.ParseInt(strings.Fields(string(stat))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(nanoseconds)
}

// TestHostileDocuments looks at time and memory.
func TestHostileDocuments(t *testing.T) {
	const most = time.Second
	for name, test := range hostile() {
		t.Run(name, func(t *testing.T) {
			doc := []byte(test.doc)
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := running(t)
			_, _, err := tdesc.Parse(doc, nil)
			if took := running(t) - start; took > most {
				t.Errorf("it took %v, want less than %v", took, most)
			}
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %.200v, want %q in it", err, test.err)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("it allocated %d bytes", used)
			}
		})
	}
}

// TestIncludesTogetherAreBounded has a document included so often that together they are too large.
func TestIncludesTogetherAreBounded(t *testing.T) {
	part := append([]byte("<a>"), append(bytes.Repeat([]byte(" "), 100<<10), "</a>"...)...)
	doc := "<target>" + strings.Repeat(`<xi:include href="part"/>`, 30) + "</target>"
	_, _, err := tdesc.Parse([]byte(doc), func(string) ([]byte, error) { return part, nil })
	if err == nil || !strings.Contains(err.Error(), "more than the 1048576 allowed") {
		t.Errorf("error %v", err)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	doc := "<target>" + strings.Repeat("<a/>", 5000) + "</target>"
	_, warnings, err := tdesc.Parse([]byte(doc), nil)
	if err != nil || len(warnings) != 1000 {
		t.Errorf("error %v, %d warnings", err, len(warnings))
	}
}
