package check

import (
	"slices"

	"tracewell/tfile"
)

// Rules are values that findings point to, so that a finding names its rule without a lookup and tests can hold the
// list of all rules against the breaches that are known (breaches_test.go). What the advice says of GDB 13.1 was
// observed (gdb_test.go).
var rules []*tfile.Rule

func newRule(name string, severity tfile.Severity, advice string) *tfile.Rule {
	r := &tfile.Rule{Name: name, Severity: severity, Advice: advice}
	rules = append(rules, r)
	return r
}

// Rules returns the rules of this package. They are shared and nobody's to change. A report may also name those of package
// tfile and, as "description-" and its name, any of package tdesc/check.
func Rules() []*tfile.Rule { return slices.Clone(rules) }

// Rules of the file as a whole.
var (
	// A file is truncated when its writer died, or its disk was full.
	ruleTruncated = newRule("truncated", tfile.Misreads,
		"let --fix keep what is whole and end it: GDB shows the frames, but every search that passes the last one fails")
	// GDB reads definitions line by line until an empty one, and everything behind it by offsets.
	ruleDefinitionsEnd = newRule("definitions-end", tfile.Refuses,
		"end the definitions with an empty line, LF alone; if the file was copied as text its frames are lost, so copy it again")
	ruleBigEndian = newRule("big-endian", tfile.Misreads,
		"tell GDB 'set endian big' ahead of opening the file, or give it the program: it takes the order of its own machine")
	ruleEndMarker = newRule("end-marker", tfile.Odd, "end the file with four zero bytes, as GDB does")
)

// Rules of definition lines.
var (
	ruleRefusedLine = newRule("refused-line", tfile.Refuses,
		"write the line anew or remove it: GDB 13.1 gives up opening the file at it")
	ruleReturn = newRule("carriage-return", tfile.Odd,
		"end lines with LF alone: GDB 13.1 takes the CR as part of the line, though this one does not suffer")
	ruleReturnRefused = newRule("carriage-return-refused", tfile.Refuses,
		"end lines with LF alone; if the file was copied as text its frames have suffered too, so copy it again")
	ruleUnread = newRule("unread-text", tfile.Odd,
		"write the line anew: GDB 13.1 passes over what it does not know, other readers may not")
	ruleOption = newRule("unknown-option", tfile.Misreads,
		"write the option as F, S or X: GDB 13.1 warns and passes over the rest of the line")
	ruleRepeated = newRule("repeated-line", tfile.Odd, "keep the last of the lines, which is the one that counts")
	ruleLate     = newRule("definition-late", tfile.Odd, "put the T piece of a tracepoint ahead of its other pieces")
	ruleStart    = newRule("source-start", tfile.Misreads,
		"write the string whole: GDB 13.1 takes each part of it for a string of its own")
	ruleLength = newRule("source-length", tfile.Odd, "make the length that of the string; GDB 13.1 does not look at it")
)

// Rules of the status.
var (
	// GDB 13.1 initialises the number of frames with -1 before it reads the file.
	ruleNoStatus = newRule("status-missing", tfile.Misreads,
		"add a status line with tframes: without it GDB 13.1 warns that there are no frames, and counts -1")
	ruleNoFramesTold = newRule("status-no-frames", tfile.Misreads,
		"correct tframes: GDB 13.1 goes by it when it warns that there are no frames")
	ruleFrameCount = newRule("status-frames", tfile.Misreads,
		"correct tframes, or look for the frames that are missing; tstatus shows what the line says")
	ruleContradiction = newRule("status-contradiction", tfile.Odd, "correct the counts of the status line")
	ruleRunning       = newRule("status-running", tfile.Odd,
		"stop the run before saving it; GDB shows it as running, and the variables as unknown")
	ruleErrorText = newRule("status-error-text", tfile.Crashes,
		"write terror:<text in hexadecimal, may be empty>:<tracepoint>: GDB 13.1 dies without the field of the text")
	ruleStopText = newRule("status-stop-text", tfile.Odd,
		"write tstop:<text in hexadecimal, may be empty>:0: a stub that says the same makes GDB 13.1 die at tsave")
	ruleStopper = newRule("status-tracepoint", tfile.Odd, "name a tracepoint that is defined as the one that stopped the run")
)

// Rules of trace state variables.
var (
	ruleVariableNumber = newRule("variable-number-twice", tfile.Misreads,
		"give each variable a number of its own: GDB 13.1, and Tracewell after it, know only the last that has the number")
	ruleVariableName = newRule("variable-name-twice", tfile.Misreads,
		"give each variable a name of its own: GDB 13.1 shows the value of one of them only")
	ruleVariableWord = newRule("variable-name", tfile.Misreads,
		"name the variable as a word of letters, digits and underscores: GDB cannot be asked for another")
	ruleVariableUndefined = newRule("variable-undefined", tfile.Misreads,
		"add a tsv line with the number and a name: without one GDB 13.1 cannot be asked for the value")
	ruleVariableRange = newRule("variable-range", tfile.Misreads,
		"number trace state variables from 1 to 65535, which is all that agent expressions can name")
)

// Rules of tracepoints.
var (
	ruleNumber = newRule("tracepoint-number", tfile.Misreads,
		"number tracepoints from 1 to 32767: frames have 16 bits for it, read with a sign, and 0 ends the file")
	ruleTracepointOrder = newRule("tracepoint-order", tfile.Odd,
		"define the tracepoints from the highest number to the lowest: GDB 13.1 numbers them anew from the last to the first")
	ruleStatic = newRule("static-tracepoint", tfile.Misreads,
		"leave S out: GDB 13.1 cannot find the marker, warns or even forgets which frames are the tracepoint's")
	ruleFast = newRule("fast-tracepoint", tfile.Misreads,
		"give GDB the program ahead of the file, or leave F out: to believe in a fast tracepoint GDB 13.1 reads the program's code")
	ruleFastShort = newRule("fast-instruction", tfile.Misreads,
		"leave F out: GDB 13.1 refuses the tracepoint and then does not know which frames are its")
	ruleNoLocation = newRule("location-without-source", tfile.Odd,
		"add a Z piece of type at, such as *0x401131: GDB 13.1 warns and takes the address")
	ruleNoCondition = newRule("condition-without-source", tfile.Misreads,
		"add a Z piece of type cond: GDB 13.1 warns and shows the tracepoint without the condition")
	ruleNoCommands = newRule("actions-without-source", tfile.Misreads,
		"add Z pieces of type cmd: GDB 13.1 warns and does not know what was collected, so that tdump prints nothing")
	ruleStepping = newRule("stepping-without-source", tfile.Misreads,
		"add the Z pieces cmd while-stepping and end: without them GDB 13.1 takes the tracepoint's address for the $pc of any step")
	ruleCollectStrings = newRule("collect-strings", tfile.Misreads,
		"write collect for collect/s: GDB 13.1 does not take it from a file, and forgets which frames are the tracepoint's")
	ruleBytecode = newRule("bytecode", tfile.Odd,
		"compile the expression anew; GDB does not look at it in a file, but it cannot have been evaluated")
	ruleCodeVariable = newRule("expression-variable", tfile.Odd, "add a tsv line for the variable")
	ruleCodeRegister = newRule("expression-register", tfile.Odd, "correct the register number, or add the register to the description")
	ruleElsewhere    = newRule("load-address", tfile.Misreads,
		"use tracewell show --exec, which works out where the program was loaded: the file does not say it, and GDB 13.1 "+
			"resolves locations, and looks for symbols, where the program was linked, unless symbol-file -o says otherwise")
)

// Rules of the target description and of register blocks.
var (
	ruleNoDescription = newRule("description-missing", tfile.Misreads,
		"add the target description as tdesc lines: GDB takes the registers of the program, or without one those of its own machine")
	ruleShort = newRule("registers-short", tfile.Odd,
		"correct the R line: a block ends between two registers where only some were collected")
	ruleLong = newRule("registers-long", tfile.Odd,
		"add what is behind the last register to the target description, or shorten the blocks: GDB passes over it")
	ruleSizeInferred = newRule("register-size-contradicted", tfile.Refuses,
		"let --fix write the file with register blocks of one size; fast tracepoints of gdbserver's agent may have more registers")
)

// Rules of frames.
var (
	ruleBlock = newRule("unknown-block", tfile.Refuses,
		"let --fix keep the blocks ahead of it: GDB 13.1 shows nothing of such a frame")
	ruleStaticBlock = newRule("static-block", tfile.Refuses,
		"leave S blocks out, as --fix does: GDB 13.1 shows nothing of such a frame, not even its other blocks")
	rulePastEnd = newRule("block-past-end", tfile.Misreads,
		"let --fix keep the blocks ahead of it: GDB 13.1 reads on in the next frame as if it belonged to this one")
	ruleFrameUndefined = newRule("frame-undefined", tfile.Misreads,
		"add the T piece of the tracepoint: GDB 13.1 shows the number as if it were one of its own, and guesses no $pc")
	ruleFrameNumber = newRule("frame-number", tfile.Misreads,
		"give the tracepoint a number from 1 to 32767, as --fix does: GDB shows a negative one, which belongs to no tracepoint")
	ruleEmptyFrame = newRule("empty-frame", tfile.Odd,
		"nothing: gdbserver makes such frames when its buffer is full; what was to be collected is lost")
	ruleNoPC = newRule("pc-unknown", tfile.Odd,
		"collect registers: GDB infers $pc only for a tracepoint at one location that does not step")
	ruleCrashingFrame = newRule("registers-needed", tfile.Crashes,
		"collect registers: GDB 13.1 dies of an internal error when it selects a frame without them on this architecture")
	ruleComplaint = newRule("registers-wanted", tfile.Misreads,
		"collect registers: on this architecture GDB 13.1 ends tfind with an error at a frame without them, though the frame is selected")
	ruleSeveralRegisters = newRule("registers-twice", tfile.Odd, "keep the first, which is the one that GDB shows")
	ruleNoMemory         = newRule("memory-empty", tfile.Odd, "leave the block out")
	ruleOverlap          = newRule("memory-overlap", tfile.Misreads,
		"collect the range once: GDB 13.1 shows the first block, and where that ends goes on with the other")
	ruleWrap = newRule("memory-wraps", tfile.Misreads,
		"split the block at the end of the address space: GDB 13.1 does not find what is behind it")
	ruleWide          = newRule("memory-address", tfile.Misreads, "correct the address: the target has addresses of 32 bits")
	ruleSeveralValues = newRule("variable-values", tfile.Odd, "keep the last value, which is the one that GDB shows")
	ruleUncollected   = newRule("uncollected", tfile.Odd, "compare with the actions of the tracepoint, none of which collects this")
	ruleMemoryTooLong = newRule("memory-long", tfile.Odd, "compare with the actions of the tracepoint, none of which collects so much")
)
