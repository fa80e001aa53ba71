package tdesc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tracewell/tdesc"
)

// annexes serves documents by name.
type annexes map[string]string

func (a annexes) include(annex string) ([]byte, error) {
	doc, ok := a[annex]
	if !ok {
		return nil, errNoAnnex
	}
	return []byte(doc), nil
}

var errNoAnnex = errors.New("no such annex")

const xi = `<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href=`

func TestInclude(t *testing.T) {
	docs := annexes{
		"core.xml": "<?xml version=\"1.0\"?>\n<!DOCTYPE feature SYSTEM \"gdb-target.dtd\">\n" +
			`<feature name="core"><reg name="a" bitsize="32"/><xi:include href="more.xml"/></feature>`,
		"more.xml": `<reg name="b" bitsize="32"/>`,
		"last.xml": `<reg name="c" bitsize="32"/>`,
	}
	top := `<target><xi:include href="core.xml"><xi:fallback><nonsense/></xi:fallback></xi:include>` +
		`<feature name="own">` + xi + `"last.xml"/></feature></target>`
	target, warnings, err := tdesc.Parse([]byte(top), docs.include)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("error %v, warnings %v", err, warnings)
	}
	var got []string
	for f, r := range target.Registers() {
		got = append(got, fmt.Sprintf("%s %s %d", f.Name, r.Name, r.Num))
	}
	if want := "core a 0, core b 1, own c 2"; strings.Join(got, ", ") != want {
		t.Errorf("got %s, want %s", strings.Join(got, ", "), want)
	}
}

// TestIncludeKeepsSkipping has GDB's order of things: includes are expanded first, also in what is then ignored.
func TestIncludeKeepsSkipping(t *testing.T) {
	top := []byte(`<target><unknown><xi:include href="a.xml"/></unknown></target>`)
	if _, warnings, err := tdesc.Parse(top, annexes{"a.xml": "<b><c/></b>"}.include); err != nil || len(warnings) != 1 {
		t.Errorf("error %v, warnings %v, want one warning", err, warnings)
	}
	if _, _, err := tdesc.Parse(top, annexes{}.include); !errors.Is(err, errNoAnnex) {
		t.Errorf("error %v, want %v", err, errNoAnnex)
	}
}

func TestIncludeErrors(t *testing.T) {
	tests := []struct {
		name string
		docs annexes
		want string
	}{
		{"missing", annexes{}, `1:9: xi:include of "a": no such annex`},
		{
			"missing below", annexes{"a": "<feature name='f'>\n <xi:include href='b'/></feature>"},
			`"a":2:2, included from 1:9: xi:include of "b": no such annex`,
		},
		{
			"wrong below", annexes{"a": `<feature name="f"><xi:include href="b"/></feature>`, "b": "\n\n<reg/>"},
			`"b":3:1, included from "a":1:19, included from 1:9: <reg> without its attribute name`,
		},
		{"malformed", annexes{"a": "<feature name='f'>"}, `"a":1:19, included from 1:9: the document ends inside <feature>`},
		{"empty", annexes{"a": ""}, `"a":1:1, included from 1:9: the document has no root element`},
		{"two roots", annexes{"a": "<b/><c/>"}, `"a":1:5, included from 1:9: second root element <c>`},
		{"itself", annexes{"a": "<xi:include href='a'/>"}, `"a":1:1, included from 1:9: xi:include of "a", which is being`},
		{
			"in a circle", annexes{"a": "<xi:include href='b'/>", "b": "<xi:include href='a'/>"},
			`"b":1:1, included from "a":1:1, included from 1:9: xi:include of "a", which is being included already`,
		},
		{"no href", annexes{"a": "<xi:include/>"}, `"a":1:1, included from 1:9: xi:include without href`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, _, err := tdesc.Parse([]byte(`<target><xi:include href="a"/></target>`), test.docs.include)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
	_, _, err := tdesc.Parse([]byte(`<target><xi:include href="a"/></target>`), nil)
	if err == nil || !strings.Contains(err.Error(), "there are no other documents") {
		t.Errorf("without an include function: error %v", err)
	}
}

func TestIncludeBounds(t *testing.T) {
	nested := func(depth int) error {
		docs := annexes{}
		for i := range depth - 1 {
			docs[fmt.Sprint(i)] = fmt.Sprintf(`<x><xi:include href="%d"/></x>`, i+1)
		}
		docs[fmt.Sprint(depth-1)] = "<x/>"
		_, _, err := tdesc.Parse([]byte(`<target><xi:include href="0"/></target>`), docs.include)
		return err
	}
	if err := nested(31); err != nil {
		t.Errorf("31 levels: %v", err)
	}
	if err := nested(32); err == nil || !strings.Contains(err.Error(), "nested deeper than 31") {
		t.Errorf("32 levels: error %v", err)
	}
	docs := annexes{}
	for i := range 20 {
		docs[fmt.Sprint(i)] = fmt.Sprintf(`<x><xi:include href="%d"/><xi:include href="%[1]d"/></x>`, i+1)
	}
	docs["20"] = "<x/>"
	_, _, err := tdesc.Parse([]byte(`<target><xi:include href="0"/></target>`), docs.include)
	if err == nil || !strings.Contains(err.Error(), "more than the 1000 allowed") {
		t.Errorf("a document that doubles 20 times: error %v", err)
	}
}
