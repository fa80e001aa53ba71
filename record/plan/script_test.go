package plan

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestScriptFaults: errors name file and line, and mark what is wrong.
func TestScriptFaults(t *testing.T) {
	for script, want := range map[string]string{
		"# fine\n\n  trce push\n":       "s:3: this is no command that a trace can be planned with\n    trce push\n    ^~~~\nthere are trace, ftrace, strace, actions, commands, condition, passcount, tvariable, enable, disable, delete, set, echo, info, show, tstart, collect, teval, while-stepping, stepping, end",
		"run":                           "s:1: this is no command that a trace can be planned with\n  run\n  ^~~\nthere are trace, ftrace, strace, actions, commands, condition, passcount, tvariable, enable, disable, delete, set, echo, info, show, tstart, collect, teval, while-stepping, stepping, end",
		"trace":                         "s:1: where? There is no location here\n  trace\n  ^~~~~",
		"tp push thread 2":              "s:1: a tracepoint is for all threads: it can't be limited to one\n  tp push thread 2\n          ^~~~~~",
		"actions\n":                     "s:1: this script has defined no tracepoint yet\n  actions\n         ^",
		"trace a\nactions 2\n":          "s:2: there is no tracepoint 2\n  actions 2\n          ^",
		"trace a\nactions x\n":          "s:2: this is no number of a tracepoint\n  actions x\n          ^",
		"trace a\nactions\ncollect x\n": "s:2: the list that begins here has no end\n  actions\n  ^~~~~~~",
		"trace a\nactions\nws 2\nws 3\nend\nend\nend\n": "s:4: while-stepping can't stand within while-stepping\n  ws 3\n  ^~",
		"trace a\nactions\nws\nend\nend\n":              "s:3: while-stepping needs a number of steps, from 1 to 2147483647\n  ws\n    ^",
		"trace a\nactions\ncollect\nend\n":              "s:3: there is no expression here\n  collect\n         ^",
		"trace a\nactions\nteval $x = 1\nend\n":         "s:3: $x is no trace state variable\n  teval $x = 1\n        ^~\ndefine it before by tvariable $x",
		"trace a\nactions\ntrace b\nend\n":              "s:3: this is no command that a trace can be planned with\n  trace b\n  ^~~~~\nthere are collect, teval, while-stepping, stepping, end",
		"trace a\nactions\nend x\n":                     "s:3: this is too much\n  end x\n      ^",
		"collect x":                                     "s:1: this stands only between actions and the end of these\n  collect x\n  ^~~~~~~",
		"trace a\ncondition":                            "s:2: the number of a tracepoint is missing\n  condition\n  ^~~~~~~~~",
		"trace a\ncondition -force 1 x":                 "s:2: a condition has to be right everywhere: it can't be forced\n  condition -force 1 x\n            ^~~~~~",
		"trace a\npasscount":                            "s:2: passcount needs a number of passes\n  passcount\n           ^",
		"trace a\npasscount 1 7":                        "s:2: there is no tracepoint 7\n  passcount 1 7\n              ^",
		"tvariable x":                                   "s:1: a trace state variable is defined as $NAME or $NAME = NUMBER\n  tvariable x\n            ^",
		"tvariable":                                     "s:1: a trace state variable is defined as $NAME or $NAME = NUMBER\n  tvariable\n           ^",
		"trace a\ntrace b\nenable 2-1":                  "s:3: this range ends before it begins\n  enable 2-1\n         ^~~",
		"trace a\nenable 1-":                            "",
		"trace a\nenable 0":                             "s:2: this is no number of a tracepoint\n  enable 0\n         ^",
		"set language c":                                "s:1: this is no setting of a trace\n  set language c\n      ^~~~~~~~\nthere are default-collect, trace-notes, trace-stop-notes, trace-user, circular-trace-buffer, trace-buffer-size",
		"set circular-trace-buffer maybe":               "s:1: this is neither on nor off\n  set circular-trace-buffer maybe\n                            ^~~~~",
		"set trace-buffer-size 0":                       "s:1: a size is a number of bytes, or unlimited\n  set trace-buffer-size 0\n                        ^",
		"set default-collect x,,y":                      "s:1: there is no expression here\n  set default-collect x,,y\n                        ^",
		"trace a \\\n if \\\n":                          "s:1: there is no condition behind this\n  trace a  if \n           ^~",
		"trace a\\":                                     "s:1: nothing follows that this could join\n  trace a\\\n         ^",
		"trace a\x00b":                                  "s:1: this is no text\n  trace a b\n         ^",
	} {
		var p Plan
		got := ""
		if err := p.AddScript("s", script); err != nil {
			got = err.Error()
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", script, diff)
		}
	}
}

// handwritten is a script as people write them, with what it comes to.
const handwritten = `# what goes on in the queue
set pagination off
set trace-notes  a "note"
set trace-user me
set trace-stop-notes enough
set circular-trace-buffer on
set trace-buffer-size 100000
echo hello\n
tvar $count = 0x10
tvariable $trace_timestamp
tv $small=-5
tp push if n > 2 && \
  job->id != 3
act
  # comments may stand here
  col $args,*job
	collect/s8 job->name
  tev $count=$count+1
  stepping 2
    collect $rip
  end
end
pass 3
ftr main
trace pop
trace queue.c:1
dis 1 2-3
en trace 3
del $bpnum
cond 3 1
cond 3
commands 1-2
collect $regs
end
passcount 4 all
set default-collect $rip, limit
`

const handwrittenMeans = `set trace-notes a "note"
set trace-stop-notes enough
set trace-user me
set circular-trace-buffer on
set trace-buffer-size 100000
tvariable $count = 16
tvariable $small = -5
trace push
  passcount 4
  condition $bpnum n > 2 &&   job->id != 3
  commands
    collect $regs
  end
disable $bpnum
ftrace main
  passcount 4
  commands
    collect $regs
  end
disable $bpnum
trace pop
  passcount 4
set default-collect $rip, limit
`

func TestScript(t *testing.T) {
	for _, script := range []string{handwritten, strings.ReplaceAll(handwritten, "\n", "\r\n"), handwrittenMeans} {
		var p Plan
		if err := p.AddScript("s", script); err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(handwrittenMeans, p.Script()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// readBack holds the script of a plan to what it was written from: read again it is the same.
func readBack(t *testing.T, p *Plan) {
	t.Helper()
	var again Plan
	script := p.Script()
	if err := again.AddScript("s", script); err != nil {
		t.Fatalf("%v in\n%s", err, script)
	}
	if got := again.Script(); got != script {
		t.Fatalf("after reading\n%s\nit is\n%s", script, got)
	}
}

func FuzzScript(f *testing.F) {
	f.Add(handwritten)
	f.Add(handwrittenMeans)
	f.Add("trace *(long)push+4 if 1\nactions\ncollect a<b,c>::d, 'x\nend\n")
	f.Add("strace -m demo:item\nactions 1\ncollect $_sdata\nend")
	f.Fuzz(func(t *testing.T, script string) {
		var p Plan
		if p.AddScript("s", script) == nil {
			readBack(t, &p)
		}
	})
}

func FuzzItems(f *testing.F) {
	f.Add("--collect\n$regs\n--at\npush if n > 3\n--at\npop\n--step\n3:$rip,x\n--backtrace\n64")
	f.Add("--tvariable\n$x=1\n--at\n-probe demo:item\n--set\n$x=2,$y+=1\n--pass\n3\n--if\n'a.c'::x > 1")
	f.Fuzz(func(t *testing.T, text string) {
		var line []Item
		words := strings.Split(text, "\n")
		for i := 0; i+1 < len(words); i += 2 {
			line = append(line, Item{words[i], words[i+1]})
		}
		var p Plan
		if p.AddItems(line) == nil {
			readBack(t, &p)
		}
	})
}
