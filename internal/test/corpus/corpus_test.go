package corpus

import (
	"flag"
	"testing"
)

var whole = flag.Bool("whole", false, "go through all builds")

// TestObserve: GDB comes to the marks of every build, and sees what it sees in all of them.
func TestObserve(t *testing.T) {
	builds := Few()
	if *whole {
		builds = Builds
	}
	for _, b := range builds {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			p := Compile(t, b)
			marks, values, absent := map[string]bool{}, 0, 0
			for _, a := range Observe(t, p, 4, nil) {
				marks[a.Mark] = true
				for _, v := range a.Values {
					values++
					if v.Absent {
						absent++
					}
				}
			}
			t.Logf("%d of %d marks, %d values, %d of them optimised out", len(marks), len(p.Marks), values, absent)
			if len(marks) < len(p.Marks)*3/4 {
				t.Errorf("GDB came to %d of %d marks", len(marks), len(p.Marks))
			}
		})
	}
}
