package check

import (
	"strings"
	"testing"

	"tracewell/tfile"
)

// breach is a file that breaks a rule, and what GDB 13.1 makes of it.
type breach struct {
	name     string
	make     func(*parts)
	rule     string
	severity tfile.Severity
	gdb      string // in what GDB prints, "" where it takes no notice; "-" before it: not in it
	also     string // other rules that are broken with it, separated by blanks
}

// replace puts something in the place of a text in a list of lines.
func replace(lines []string, old, with string) {
	for i := range lines {
		lines[i] = strings.Replace(lines[i], old, with, 1)
	}
}

func (p *parts) tracepoint(old, with string) { replace(p.tracepoints, old, with) }
func (p *parts) add(lines ...string)         { p.tracepoints = append(p.tracepoints, lines...) }
func (p *parts) first(blocks ...string)      { p.frames[0] = frame(2, blocks...) }

const (
	odd      = tfile.Odd
	misreads = tfile.Misreads
	refuses  = tfile.Refuses
	crashes  = tfile.Crashes
)

// breaches has the rules in the order of rules.go, those of tfile first.
var breaches = []breach{
	{"no R", func(p *parts) { p.size = ""; p.frames = [][]byte{frame(2), frame(2)}; p.status = goodStatus },
		"register-size", refuses,
		"No register block size recorded", "empty-frame"},
	{"R decimal", func(p *parts) { p.size = here + "R 2420" }, "decimal-size", refuses, "Premature end of file", ""},
	{"status with T", func(p *parts) { p.status = here + "status T0;tpasscount:2;tframes:2;tcreated:2" },
		"status-reply", misreads, "stopped for an unknown reason", ""},
	{"status of a run with T", func(p *parts) { p.status = here + "status T1;tframes:2;tcreated:2" },
		"status-reply", misreads, "Trace stopped for an unknown reason", "status-running"},
	{"unknown keyword", func(p *parts) { p.other = []string{here + "foo bar"} },
		"unknown-line", odd, `Ignoring trace file definition "foo bar"`, ""},
	{"long line", func(p *parts) { p.other = []string{here + "tdesc " + strings.Repeat(" ", 1000)} }, "long-line", refuses,
		"Excessively long lines", "description-"},
	{"no T", func(p *parts) { p.tracepoints = p.tracepoints[1:]; p.tracepoint("tp A", here+"tp A") },
		"undefined", crashes, "internal-error", ""},
	{"bytes behind", func(p *parts) { p.end += here + "hello" }, "trailing-bytes", misreads, "", ""},
	{"unknown piece", func(p *parts) { p.add(here + "tp K2:401131:0") },
		"malformed-line", misreads, "Unrecognized tracepoint piece 'K'", ""},

	{"no end marker", func(p *parts) { p.end = here }, "truncated", misreads, "Premature end of file", ""},
	{"end marker of a byte", func(p *parts) { p.end = here + "\x00" }, "truncated", misreads, "Premature end of file", ""},
	{"end marker of two bytes", func(p *parts) { p.end = here + "\x00\x00" }, "end-marker", odd, "-Premature", ""},
	{"end marker of three bytes", func(p *parts) { p.end = here + "\x00\x00\x00" }, "end-marker", odd, "-Premature", ""},
	{"definitions without end", func(p *parts) { p.unended = true },
		"definitions-end", refuses, "Premature end of file", "status-frames"},
	{"a cut frame", func(p *parts) {
		p.frames[1] = append([]byte(here), p.frames[1][:len(goodFrame())-5]...)
		p.end = ""
	}, "truncated", misreads, "Premature end of file", "status-frames"},
	{"only definitions", func(p *parts) { p.frames, p.end = nil, ""; p.tracepoints = nil; p.other = []string{here + "tdesc"} },
		"unknown-line", odd, "Ignoring", "truncated status-frames"},

	{"status without colon", func(p *parts) { p.status = here + "status 0;tstop" },
		"refused-line", refuses, "Malformed trace status", ""},
	{"status of no digits", func(p *parts) { p.status = here + "status 0;tframes:2;notes:6z" },
		"refused-line", refuses, "Invalid hex digit", ""},
	{"status with a text of an odd character", func(p *parts) { p.status = here + "status 0;tstop::0;tframes:2;tcreated:2;notes:6e::" },
		"refused-line", refuses, "Invalid hex digit", ""},
	{"status of a count without digits", func(p *parts) { p.status = here + "status 0;tstop::0;tframes:zz;tcreated:2" },
		"malformed-line", misreads, "No traceframes present", ""},
	{"variable of no digits", func(p *parts) { p.variables = append(p.variables, here+"tsv 6:0:0:zz") },
		"refused-line", refuses, "Invalid hex digit", ""},
	{"source of no digits", func(p *parts) { p.add(here + "tp Z2:401131:cond:0:2:zzzz") },
		"refused-line", refuses, "Invalid hex digit", ""},
	{"CR in a piece", func(p *parts) { p.tracepoint("tp T2:401131:E:0:0", here+"tp T2:401131:E:0:0\r") },
		"carriage-return", odd, "-warning", ""},
	{"CR in the status", func(p *parts) { p.status = here + p.status + "\r" },
		"carriage-return-refused", refuses, "Malformed trace status", ""},
	{"unknown action", func(p *parts) { p.add(here + "tp A2:401131:Qzz") }, "unread-text", odd, "-warning", ""},
	{"unknown option", func(p *parts) { p.tracepoint("tp T2:401131:E:0:0", here+"tp T2:401131:E:0:0:Q1") },
		"unknown-option", misreads,
		"Unrecognized char 'Q'", ""},
	{"R twice", func(p *parts) { p.size = "R 9\n" + here + "R 974" }, "repeated-line", odd, "0x401131", ""},
	{"status twice", func(p *parts) { p.status += "\n" + here + "status 0;tnotrun:0;tframes:2" },
		"repeated-line", odd, "No trace has been run", ""},
	{"T twice", func(p *parts) { p.add(here + "tp T2:401131:D:0:5") }, "repeated-line", odd, "pass count 5", ""},
	{"T late", func(p *parts) { p.tracepoints = append(p.tracepoints[1:], here+p.tracepoints[0]) },
		"definition-late", odd, "-warning", ""},
	{"source in parts", func(p *parts) {
		p.tracepoints = p.tracepoints[:5]
		p.add("tp Z2:401131:cmd:0:7:636f6c6c656374", here+"tp Z2:401131:cmd:7:c:2024726567")
	}, "source-start", misreads, "Argument required", ""},
	{"source length", func(p *parts) { p.tracepoint("tp Z2:401131:at:0:9", here+"tp Z2:401131:at:0:a") },
		"source-length", odd, "-warning", ""},

	{"no status", func(p *parts) { p.status = "" }, "status-missing", misreads, "No traceframes present", ""},
	{"no frames told", func(p *parts) { p.status = here + "status 0;tstop::0;tframes:0" },
		"status-no-frames", misreads, "No traceframes present", ""},
	{"frames not told", func(p *parts) { p.status = here + "status 0;tstop::0" },
		"status-no-frames", misreads, "No traceframes present", ""},
	{"other frames told", func(p *parts) { p.status = here + "status 0;tstop::0;tframes:9;tcreated:a" },
		"status-frames", misreads,
		"contains 9 trace frames (of 10", ""},
	{"fewer created", func(p *parts) { p.status = here + "status 0;tstop::0;tframes:2;tcreated:1" },
		"status-contradiction", odd, "2 trace frames (of 1", ""},
	{"running", func(p *parts) { p.status = here + "status 1;tframes:2;tcreated:2" },
		"status-running", odd, "Trace is running", ""},
	{"terror without text", func(p *parts) { p.status = here + "status 0;tframes:2;tcreated:2;terror:2" },
		"status-error-text", crashes,
		"internal-error", ""},
	{"tstop without text", func(p *parts) { p.status = here + "status 0;tstop:0;tframes:2;tcreated:2" },
		"status-stop-text", odd, "-warning", ""},
	{"stopped by another", func(p *parts) { p.status = here + "status 0;tpasscount:7;tframes:2;tcreated:2" },
		"status-tracepoint", odd,
		"stopped by tracepoint 7", ""},

	{"variable defined again", func(p *parts) { p.variables = append(p.variables, here+"tsv 5:1f:0:6869") },
		"repeated-line", odd, "hi             31", ""},
	{"variable number twice", func(p *parts) { p.variables = append(p.variables, here+"tsv 5:0:0:6f74686572") },
		"variable-number-twice", misreads,
		"= void", ""},
	{"variable name twice", func(p *parts) { p.variables = append(p.variables, here+"tsv 6:7:0:6869") },
		"variable-name-twice", misreads, "-tsv", ""},
	{"variable without name", func(p *parts) { p.variables[0] = here + "tsv 5:0:0:" },
		"variable-name", misreads, "= void", ""},
	{"variable with a blank", func(p *parts) { p.variables[0] = here + "tsv 5:0:0:612062" },
		"variable-name", misreads, "= void", ""},
	{"variable undefined", func(p *parts) {
		p.variables = nil
		p.tracepoint("X00000004,2e000527", "M-1,0,1")
		p.frames[0] = append([]byte(here), p.frames[0]...)
	}, "variable-undefined", misreads, "= void", ""},
	{"variable zero", func(p *parts) { p.variables = append(p.variables, here+"tsv 0:0:0:7a") },
		"variable-range", misreads, "", ""},
	{"value beyond", func(p *parts) {
		p.first(registers(1), variableOf(0x10005, 1))
		p.frames[0] = append([]byte(here), p.frames[0]...)
	},
		"variable-range", misreads, "= void", ""},

	{"tracepoint 0", func(p *parts) { p.add(here+"tp T0:401140:E:0:0", "tp Z0:401140:at:0:9:2a3078343031313430") },
		"tracepoint-number", misreads,
		"target's tracepoint 0", ""},
	{"tracepoint beyond", func(p *parts) {
		p.tracepoints = append([]string{here + "tp T8001:401140:E:0:0", "tp Z8001:401140:at:0:9:2a3078343031313430"}, p.tracepoints...)
	}, "tracepoint-number", misreads, "target's tracepoint 32769", ""},
	{"ascending", func(p *parts) {
		p.tracepoints[0] = here + p.tracepoints[0]
		p.add("tp T3:401140:E:0:0", "tp Z3:401140:at:0:9:2a3078343031313430")
	}, "tracepoint-order", odd, "for target's tracepoint 3", ""},
	{"static", func(p *parts) { p.tracepoint("tp T2:401131:E:0:0", here+"tp T2:401131:E:0:0:S") },
		"static-tracepoint", misreads,
		"Couldn't determine the static tracepoint marker", ""},
	{"fast", func(p *parts) { p.tracepoint("tp T2:401131:E:0:0", here+"tp T2:401131:E:0:0:F0") }, "fast-tracepoint", misreads,
		"Cannot access memory at address 0x401131", ""},
	{"no location", func(p *parts) {
		p.tracepoint("tp Z2:401131:at:0:9:2a3078343031313331", "")
		p.tracepoint("tp T", here+"tp T")
	},
		"location-without-source", odd, "has no source location, using raw address", ""},
	{"no condition", func(p *parts) { p.tracepoint("tp T2:401131:E:0:0", here+"tp T2:401131:E:0:0:X3,220127") },
		"condition-without-source", misreads,
		"condition has no source form", ""},
	{"no commands", func(p *parts) { p.tracepoints = p.tracepoints[:5]; p.tracepoint("tp T", here+"tp T") },
		"actions-without-source", misreads,
		"actions have no source form", ""},
	{"steps without source", func(p *parts) {
		p.tracepoint("tp T2:401131:E:0:0", here+"tp T2:401131:E:4:0")
		p.frames[0] = frame(2, memory(0x404020, "\x01\x02\x03\x04"))
	}, "stepping-without-source", misreads, "= (void (*)()) 0x401131", "pc-unknown"},
	{"collect/s", func(p *parts) {
		p.tracepoint("tp T", here+"tp T")
		p.add("tp Z2:401131:cmd:0:e:636f6c6c6563742f732024726178")
	}, "collect-strings", misreads, `does not support "/s" option`, ""},
	{"bad condition", func(p *parts) {
		p.tracepoint("tp T2:401131:E:0:0", here+"tp T2:401131:E:0:0:X2,ff27")
		p.add("tp Z2:401131:cond:0:1:31")
	}, "bytecode", odd, "-warning", ""},
	{"underflow", func(p *parts) { p.tracepoint("tp T", here+"tp T"); p.add("tp A2:401131:X00000002,0227") },
		"bytecode", odd, "-warning", ""},
	{"undefined variable in an action", func(p *parts) { p.tracepoint("tp T", here+"tp T"); p.add("tp A2:401131:X00000004,2e000727") },
		"expression-variable", odd, "-warning", ""},
	{"undefined register in an action", func(p *parts) { p.tracepoint("tp T", here+"tp T"); p.add("tp A2:401131:X00000004,26fff027") },
		"expression-register", odd, "-warning", ""},
	{"undefined register in a mask", func(p *parts) {
		p.tracepoint("tp T", here+"tp T")
		p.add("tp A2:401131:R01" + strings.Repeat("00", 40))
	},
		"expression-register", odd, "-warning", ""},
	{"loaded elsewhere", func(p *parts) {
		p.tracepoints = []string{here + "tp T2:555555555131:E:0:0", "tp Z2:555555555131:at:0:f:2a3078353535353535353535313331"}
		p.frames = [][]byte{frame(2), frame(2)}
	}, "load-address", misreads, "", ""},

	{"no description", func(p *parts) { p.description = nil }, "description-missing", misreads, "= void", ""},
	{"include", func(p *parts) {
		p.description = []string{`tdesc <target>` + here + `<xi:include href="x.xml"/></target>`}
	},
		"description-include", misreads, "Could not load XML target description", ""},
	{"unclosed", func(p *parts) { p.description = []string{`tdesc <target><foo` + here} }, "description-xml-syntax", misreads,
		"Could not load XML target description", ""},
	{"size 0", func(p *parts) {
		p.description = []string{`tdesc <target><architecture>i386:x86-64</architecture><feature name="a">`,
			`tdesc ` + here + `<flags id="x" size="0"><field name="a" start="0" end="0"/></flags></feature></target>`}
	}, "description-size-zero", crashes, "internal-error", "expression-register"},
	{"short registers", func(p *parts) {
		p.size = here + "R 7c"
		p.frames = [][]byte{frame(2, registers(1)[:0x7d]), goodFrame()[:6+0x7d]}
		p.frames[1] = p.frames[0]
	}, "registers-short", odd, "<unavailable>", ""},
	{"long registers", func(p *parts) {
		p.size = here + "R 980"
		p.frames[0] = frame(2, registers(0x401131), "0123456789ab")
		p.frames[1] = p.frames[0]
	}, "registers-long", odd, "= (void (*)()) 0x401131", ""},
	{"other registers", func(p *parts) {
		p.frames[0] = frame(2, registers(0x401131), here, "0123456789ab", memory(0x404020, "\x01\x02\x03\x04"))
		p.frames[1] = p.frames[0][:0]
		p.status = strings.ReplaceAll(p.status, ":2", ":1")
	}, "register-size-contradicted", refuses, "Unknown block type '0'", ""},

	{"unknown block", func(p *parts) { p.first(registers(1), here, "Qabc") },
		"unknown-block", refuses, "Unknown block type 'Q'", ""},
	{"static block", func(p *parts) { p.add("tp A2:401131:L"); p.first(registers(1), here, "S\x04\x00abcd") },
		"static-block", refuses,
		"Unknown block type 'S'", ""},
	{"memory past the end", func(p *parts) { p.first(registers(1), here, memoryOf(0x404020, 20), "\x01\x02\x03\x04") },
		"block-past-end", misreads,
		"0x404024:\t0x02", ""},
	{"value past the end", func(p *parts) { p.first(registers(1), here, variableOf(5, 42)[:8]) },
		"block-past-end", misreads, "-= 42", ""},
	{"registers past the end", func(p *parts) { p.first(here, registers(0x401131)[:registerSize-20]) },
		"block-past-end", misreads, "= (void (*)()) 0x401131", ""},
	{"frame undefined", func(p *parts) { p.frames[0] = append([]byte(here), frame(7, registers(1))...) },
		"frame-undefined", misreads,
		"Found trace frame 0, tracepoint 7", ""},
	{"negative number", func(p *parts) { p.frames[0] = append([]byte(here), frame(0x8002, registers(1))...) },
		"frame-number", misreads,
		"tracepoint -32766", ""},
	{"empty frame", func(p *parts) { p.frames[0] = append([]byte(here), frame(2)...) },
		"empty-frame", odd, "<unavailable>", ""},
	{"pc of several locations", func(p *parts) {
		p.add("tp T2:401140:E:0:0", "tp Z2:401140:at:0:9:2a3078343031313430")
		p.frames[0] = append([]byte(here), frame(2, memory(0x404020, "\x01\x02\x03\x04"))...)
	}, "pc-unknown", odd, "", ""},
	{"registers twice", func(p *parts) { p.first(registers(0x1111), here, registers(0x2222)) },
		"registers-twice", odd, "0x1111", ""},
	{"memory without bytes", func(p *parts) { p.first(registers(1), here, memory(0x404020, "")) },
		"memory-empty", odd, "<unavailable>", ""},
	{"memory twice", func(p *parts) {
		p.first(registers(1), memory(0x404020, "\x01\x02\x03\x04"), here, memory(0x404022, "\x07\x07\x07\x07"))
	}, "memory-overlap", misreads, "0x01\t0x02\t0x03\t0x04\t0x07\t0x07", ""},
	{"memory that wraps", func(p *parts) { p.first(registers(1), here, memory(0xfffffffffffffffe, "\x01\x02\x03\x04")) },
		"memory-wraps", misreads,
		"", ""},
	{"values", func(p *parts) {
		p.first(registers(1), variableOf(5, 1), variableOf(5, 2))
		p.frames[0] = append([]byte(here), p.frames[0]...)
	},
		"variable-values", odd, "= 2", ""},
	{"uncollected memory", func(p *parts) {
		p.tracepoint("tp A2:401131:M-1,404020,4", "")
		p.frames[0] = append([]byte(here), p.frames[0]...)
	}, "uncollected", odd, "0x01\t0x02\t0x03\t0x04", ""},
	{"memory too long", func(p *parts) { p.first(registers(1), here, memory(0x404020, "\x01\x02\x03\x04\x05")) },
		"memory-long", odd,
		"0x01\t0x02\t0x03\t0x04\t0x05", ""},
	{"number 0", func(p *parts) {
		p.frames[0] = append([]byte(here), frame(0, registers(1))...)
		p.status = strings.ReplaceAll(p.status, ":2", ":1")
	}, "frames-behind-end", misreads, "-Found trace frame", ""},
	{"two files", func(p *parts) { p.end += here + "\x7fTRACE0\n" + "R 8\n\n\x00\x00\x00\x00" },
		"concatenated", misreads, "", ""},
}

// TestBreaches looks for the finding of each breach, where it is, and that there are no others.
func TestBreaches(t *testing.T) {
	for _, b := range breaches {
		t.Run(b.name, func(t *testing.T) {
			file := good(t)
			b.make(&file)
			data, mark := file.bytes()
			report := opened(t, data, Options{})
			var found *Finding
			for i := range report.Findings {
				f := &report.Findings[i]
				switch {
				case f.Rule.Name == b.rule && found == nil:
					found = f
				case f.Rule.Name == b.rule:
				case b.also == "" || !strings.Contains(" "+b.also+" ", " "+f.Rule.Name+" ") && !strings.HasPrefix(f.Rule.Name, b.also):
					t.Errorf("finding beside: %v", f)
				}
			}
			switch {
			case found == nil:
				t.Fatalf("no %s in %v", b.rule, report.Findings)
			case found.Rule.Severity != b.severity:
				t.Errorf("severity %v, want %v", found.Rule.Severity, b.severity)
			case mark >= 0 && found.Offset != mark:
				t.Errorf("offset %d, want %d: %v", found.Offset, mark, found)
			}
		})
	}
}

func TestGoodFileIsWellFormed(t *testing.T) {
	data, _ := good(t).bytes()
	if report := opened(t, data, Options{}); report.Verdict != WellFormed {
		t.Errorf("%s: %v", report.Verdict, report.Findings)
	}
}
