package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracewell/internal/test/gdbtest"
)

const (
	queueFile    = "../tfile/testdata/queue-basic.tf"
	queueProgram = "../tfile/testdata/queue"
)

// conditions are expressions over the frames of queue-basic.tf. GDB gives their values, or an error where something was not
// collected.
var conditions = []string{
	"$rip == 0x4011b5", "$rdi & 0xff", "$eflags >> 4 & 1", "(int)$rax", "(unsigned char)$rax + 1", "$hits * 3", "$hits > 3 && $rip != 0",
	"limit", "limit == 40 ? 2 : 3", "-limit / 7", "limit << 31 >> 31", "table[3] + table[4]", "sizeof table", "&table[4] - &table[1]",
	"j->id", "j->id % 5 == 2", "j->kind", "j->kind == URGENT", "j->name[4]", "qq == &q", "q.count", "q.count - 100 > 0", "q.head->id",
	"*(unsigned char *)&limit", "*(int *)0x404030", "{int}0x404030 + 1", "n", "n > 10 || sum", "sum", "~n", "!n", "$sp", "$trace_frame", // $tpnum is GDB's own numbering
	"j == q.tail", "$pc >= work && $pc < main", "$rip - (char *)push", "$pc >= &work", "j->weight > 0.6", "(int)(j->weight * 100)", "(long)j - (long)qq", "*(long *)($rbp - 8)",
}

// TestAgainstGDB evaluates conditions on some frames and has GDB do the same.
func TestAgainstGDB(t *testing.T) {
	v := openView(t, queueFile, queueProgram)
	frames := []int{0, 1, 2, 3, 4, 5, 8, 9, 17, 20, 22, 60, 84}
	var script strings.Builder
	script.WriteString("target tfile " + absolute(t, queueFile) + "\n")
	for _, n := range frames {
		fmt.Fprintf(&script, "tfind %d\n", n)
		for i, text := range conditions {
			fmt.Fprintf(&script, "-- %d %d --\n? printf \"%%ld\\n\", (long)(%s)\n", n, i, text)
		}
	}
	output := gdbtest.Run(t, absolute(t, queueProgram), script.String())
	r := v.NewReader()
	compared := 0
	for i, text := range conditions {
		e, err := v.Expression(text)
		if err != nil {
			t.Logf("%s: %v", text, err)
			continue
		}
		for _, n := range frames {
			frame, err := v.Frame(n, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Set(frame)
			value, ok := e.Value(r)
			got := fmt.Sprint(int64(value.Bits))
			want, _, _ := strings.Cut(output.Section(t, fmt.Sprintf("%d %d", n, i)), "Found trace frame")
			want = strings.TrimSpace(want)
			switch {
			case !ok && number(want):
				t.Errorf("frame %d: %s is not available, GDB has %s", n, text, want)
			case ok && got != want:
				t.Errorf("frame %d: %s is %s, GDB has %s", n, text, got, want)
			case ok:
				compared++
			}
		}
	}
	if compared < 150 {
		t.Errorf("%d values only could be compared", compared)
	}
}

func number(text string) bool {
	var n int64
	_, err := fmt.Sscan(text, &n)
	return err == nil
}

// TestConditions counts the frames that conditions choose, and those that lack something.
func TestConditions(t *testing.T) {
	for text, want := range map[string]string{
		"$hits > 3":                  "21: 61 frames lack $hits",
		"$tracepoint == 3":           "11: ",
		"j->id > 5":                  "24: 50 frames lack j, 11 frames lack j->id",
		"j->id > 5 || $pc":           "85: ",
		"n > 3 && $frame < 40":       "5: 35 frames lack n",
		"limit == 40 && sum == 0":    "0: 74 frames lack limit, 45 frames lack sum",
		"1 / ($frame % 5)":           "17: 17 frames lack 1/($frame%5) (division by zero)",
		"$pc == $rip":                "85: ",
		"table[3] == 5 && limit > 1": "11: 74 frames lack limit, 74 frames lack table[3]",
	} {
		v := openView(t, queueFile, queueProgram)
		c, err := v.Condition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		matched := 0
		r := v.NewReader()
		for i := range v.Content.NumFrames() {
			frame, err := v.Frame(i, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Set(frame)
			if c.Match(r) {
				matched++
			}
		}
		var lacks []string
		for _, l := range c.Lacking() {
			lacks = append(lacks, l.String())
		}
		if got := fmt.Sprintf("%d: %s", matched, strings.Join(lacks, ", ")); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestConditionErrors looks at what is said of names that mean nothing.
func TestConditionErrors(t *testing.T) {
	for _, row := range []struct{ text, exec, want string }{
		{"$hist > 3", "", "there is no $hist\n  $hist > 3\n  ^~~~~\ndid you mean $hits?"},
		{"nope", queueProgram, "there is no nope\n  nope\n  ^~~~\nthere are qq, j, *j, q, limit, table, n, sum, $rax, $rbx, $rcx, $rdx and 153 more"},
		{"Limit", queueProgram, "there is no Limit\n  Limit\n  ^~~~~\ndid you mean limit?"},
		{"hits", queueProgram, "there is no hits\n  hits\n  ^~~~\ndid you mean $hits?"},
		{"limitt", queueProgram, "there is no limitt\n  limitt\n  ^~~~~~\ndid you mean limit?"},
		{"q.cout == 1", queueProgram, "struct queue has no member cout\n  q.cout == 1\n  ^~~~~~\ndid you mean count?"},
		{"limit > 3", "", "there is no limit\n  limit > 3\n  ^~~~~\n" +
			"there are *j, q, *(int *)0x404030, {char[16]}0x404040, n, sum, $rax, $rbx, $rcx, $rdx, $rsi, $rdi and 154 more; " +
			"variables of the program have names when it is given, too"},
		{"$zmm0h", "", "$zmm0h is of type v2ui128, which is no integer\n  $zmm0h\n  ^~~~~~"},
	} {
		v := openView(t, queueFile, row.exec)
		_, err := v.Condition(row.text)
		if err == nil {
			t.Errorf("%s: no error", row.text)
			continue
		}
		if diff := cmp.Diff(row.want, err.Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.text, diff)
		}
	}
}

// TestReaderAllocates nothing for a frame, whether it has what is asked for or not.
func TestReaderAllocates(t *testing.T) {
	v := openView(t, queueFile, queueProgram)
	c, err := v.Condition("j->id > 5 && $rip != 1 || n > 3 && sum < 100 || table[3] == 5 || $hits > 4 || q.count == 3")
	if err != nil {
		t.Fatal(err)
	}
	r := v.NewReader()
	var frame Frame
	var text []byte
	each := func() {
		for i := range v.Content.NumFrames() {
			frame, err = v.Frame(i, frame.Bytes())
			r.Set(frame)
			c.Match(r)
			text = r.AppendCollected(text[:0])
		}
	}
	each()
	if n := testing.AllocsPerRun(3, each); n > 0 || err != nil {
		t.Errorf("%v allocations, error %v", n, err)
	}
}

// BenchmarkMatch says how many frames in memory a condition is evaluated on in a second.
func BenchmarkMatch(b *testing.B) {
	v := openView(b, queueFile, queueProgram)
	var frames []Frame
	for i := range v.Content.NumFrames() {
		frame, err := v.Frame(i, nil)
		if err != nil {
			b.Fatal(err)
		}
		frames = append(frames, frame)
	}
	for _, text := range []string{"$rip == 0x401131", "x > 3 && $rip == 0x401131", "j->id > 5", "n > 3", "limit == 40", "$hits > 5"} {
		text = strings.ReplaceAll(text, "x >", "q.count >")
		b.Run(text, func(b *testing.B) {
			c, err := v.Condition(text)
			if err != nil {
				b.Fatal(err)
			}
			r := v.NewReader()
			for i := 0; b.Loop(); i++ {
				r.Set(frames[i%len(frames)])
				c.Match(r)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds()/1e6, "Mframes/s")
		})
	}
}
