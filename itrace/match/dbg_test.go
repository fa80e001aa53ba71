package match

import (
	"fmt"
	"os"
	"testing"

	"tracewell/itrace/generate"
)

func TestDbg(t *testing.T) {
	spec := os.Getenv("DBG")
	if spec == "" {
		t.Skip()
	}
	var fs []generate.Fault
	n := int64(300000)
	for _, w := range splitWords(spec) {
		var f generate.Fault
		if err := f.UnmarshalText([]byte(w)); err != nil {
			t.Fatal(err)
		}
		fs = append(fs, f)
	}
	ref, _ := generated(t, generate.Options{Instructions: n})
	oth, p := generated(t, generate.Options{Instructions: n, Faults: fs})
	os.WriteFile("/tmp/tw/ref.t", []byte(ref), 0o644)
	os.WriteFile("/tmp/tw/oth.t", []byte(oth), 0o644)
	fmt.Println(p)
	r := compare(t, ref, oth, Options{})
	fmt.Println(show(r))
	for _, d := range r.Differences {
		fmt.Println("=====", d.Class, d.Note, d.Groups)
		if d.Context == nil {
			continue
		}
		for s, l := range [][]Position{d.Context.Reference, d.Context.Other} {
			for _, p := range l {
				fmt.Println(s, p.Line, p.Text)
			}
		}
		for _, v := range d.Context.Registers {
			fmt.Print(v.Register, "=", v.Reference, "/", v.Other, " ")
		}
		fmt.Println()
	}
}

func splitWords(s string) (w []string) {
	start := 0
	for i := 0; i <= len(s); i++ {
		if i == len(s) || s[i] == ' ' {
			w = append(w, s[start:i])
			start = i + 1
		}
	}
	return w
}
