package report

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"tracewell/itrace/match"
)

// FuzzWriters writes arbitrary reports. None of the writers fails, what they write is well formed, and there is nothing in it that
// a terminal would obey.
func FuzzWriters(f *testing.F) {
	for _, encoded := range []string{
		`{"verdict":"equal","compared":{"instructions":1},"traces":[{"file":"a","unknown":2,"samples":["x"]},{"bytes":9}],"seconds":1}`,
		`{"verdict":"failed","reason":"none","rules":{"--ignore reg":2},"traces":[{},{"unknown":1}]}`,
		`{"verdict":"different","differences":[{"class":"register","reference":{"line":2,"text":"1 clk R t0 0001"},"what":"t0","expected":"1",
		"got":"2","other":{"line":2,"text":"1 clk R t0 2"},"context":{"reference":[{"line":1,"text":"1 clk 0 IT (1) 4 5 A svc : lui t0,0x1"},
		{"line":2,"text":"1 clk R t0 0001"}],"other":[{"line":2,"text":"1 clk R t0 2"},{"line":3,"text":"0"}],
		"registers":[{"register":"t0","reference":"7","otherWriter":{"line":5}}]}},{"cpu":1,"class":"loop","note":"n"}],"counts":{"loop":5}}`,
		`{"verdict":"different","differences":[{"class":"missing","side":"reference","groups":1,"reference":{"line":1,"instruction":3},
		"other":{"line":7},"context":{"reference":[{"line":1,"instruction":3},{"line":2,"instruction":9,"text":"b"}],
		"other":[{"line":7,"text":"b"}],"registers":null}}]}`,
	} {
		f.Add([]byte(encoded), hostileText, 80)
	}
	f.Fuzz(func(t *testing.T, encoded []byte, name string, width int) {
		var r match.Report
		if json.Unmarshal(encoded, &r) != nil {
			t.Skip()
		}
		text := written(t, &r, Style{Width: width, Dialects: dialects})
		printed(t, text)
		cases := []Case{{name, &r, dialects}, {}}
		document := junit(t, cases)
		printed(t, document)
		wellFormed(t, document)
		page := html(t, cases)
		printed(t, page)
		if strings.Count(page, "<section") != len(cases) || strings.Contains(page, "<script") || !strings.HasSuffix(page, "</html>\n") {
			t.Errorf("not the page: %q", page)
		}
	})
}

// printed looks for what a terminal would obey.
func printed(t *testing.T, text string) {
	t.Helper()
	obeyed := func(r rune) bool { return r != '\n' && r != '\ufffd' && !unicode.IsPrint(r) }
	if i := strings.IndexFunc(text, obeyed); i >= 0 || !utf8.ValidString(text) {
		t.Errorf("not printable at %d: %q", i, text)
	}
}

// wellFormed reads all of an XML document.
func wellFormed(t *testing.T, document string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(document)); ; {
		_, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%v: %q", err, document)
		}
	}
}
