package tdesc

// Severity is what GDB makes of something, the worst last.
type Severity uint8

// The severities. GDB ignores the whole of a description that it rejects, and goes on with the registers that it takes for
// usual; on one that crashes it, it ends with an internal error.
const (
	Odd      Severity = iota // GDB takes it as it is meant; other readers may not
	Misreads                 // GDB takes it for something else than its author will have meant
	Rejects                  // GDB rejects the description
	Crashes                  // GDB crashes
)

var severities = [...]string{Odd: "odd", Misreads: "misreads", Rejects: "rejects", Crashes: "crashes"}

// String gives the severity as one word: odd, misreads, rejects or crashes.
func (s Severity) String() string { return severities[s] }

// Rule is something that a description has to keep.
type Rule struct {
	Name     string // such as "unknown-type"
	Severity Severity
	Invalid  bool   // a document that breaks it is not valid by the document type definition, either
	Manual   bool   // GDB's manual forbids it where GDB does not mind
	Advice   string // what to do about a breach
}

// rules is all rules that are checked while a document is read.
var rules []*Rule

func newRule(name string, severity Severity, advice string) *Rule {
	r := &Rule{Name: name, Severity: severity, Advice: advice}
	rules = append(rules, r)
	return r
}

// invalid marks a rule that the document type definition has, too.
func (r *Rule) invalid() *Rule {
	r.Invalid = true
	return r
}

// manual marks a rule that only GDB's manual has.
func (r *Rule) manual() *Rule {
	r.Manual = true
	return r
}

// Rules returns the rules that are checked while a document is read. They are shared and nobody's to change.
func Rules() []*Rule { return rules }

// Rules of documents.
var (
	ruleSyntax = newRule("xml-syntax", Rejects,
		"make the document well-formed XML; xmllint --noout finds the same place").invalid()
	ruleUnsupported = newRule("xml-unsupported", Odd,
		"leave out elements and entities that are nested by the hundred, and parameter entities")
	ruleEncoding = newRule("encoding", Rejects,
		"write the document in UTF-8; GDB also reads ISO-8859-1 and US-ASCII, under these names")
	ruleEntity = newRule("entity-undeclared", Misreads,
		"declare the entity in the outermost document; GDB leaves the reference out without a word").invalid()
	ruleTooLarge = newRule("too-large", Odd, "leave out registers that nobody looks at, or their long names and groups")
	ruleSubset   = newRule("internal-subset", Odd,
		"write the attributes down where they belong: GDB reads such declarations, Tracewell does not, and other readers may not")
	ruleDropped = newRule("subset-dropped", Misreads,
		"move the declarations to the outermost document; GDB drops the document types of included ones")
	ruleDoctype = newRule("doctype", Odd, `write <!DOCTYPE target SYSTEM "gdb-target.dtd">, or no document type at all`).invalid()
	ruleRoot    = newRule("root-element", Misreads, "make <target> the outermost element; GDB sees no registers outside it").invalid()
	ruleInclude = newRule("include", Rejects, "serve the document under the name that the xi:include gives")
	ruleCycle   = newRule("include-cycle", Rejects, "let no document include itself, directly or by way of others")
	ruleDeep    = newRule("include-depth", Rejects, "include from the outermost document what is nested so deep")
	ruleMany    = newRule("include-count", Odd, "join documents")
	ruleVersion = newRule("version", Rejects, `write version="1.0" or leave it out`).invalid()
)

// Rules of elements and attributes.
var (
	ruleUnknownElement = newRule("unknown-element", Odd,
		"correct its name or leave it out; GDB skips it with all that is in it").invalid()
	ruleUnknownAttribute = newRule("unknown-attribute", Odd, "correct its name or leave it out; GDB skips it").invalid()
	ruleMissingAttribute = newRule("missing-attribute", Rejects, "add the attribute").invalid()
	ruleMissingElement   = newRule("missing-element", Rejects, "give the type a member, or leave the type out").invalid()
	ruleSecondElement    = newRule("second-element", Rejects, "leave out all but one").invalid()
	ruleStrayText        = newRule("stray-text", Odd, "leave the text out, or make a comment of it").invalid()
	ruleNotEmpty         = newRule("not-empty", Odd,
		"end the tag with /> and leave out what follows it; a blank is too much already").invalid()
	ruleOrder = newRule("element-order", Odd, "put architecture, osabi, compatible and features in this order, and the "+
		"types of a feature before its registers").invalid().manual()
	ruleFeatureName = newRule("feature-name", Odd,
		"name the feature as an XML name: letters, digits, dots, hyphens; no blank").invalid().manual()
	ruleFeatureTwice = newRule("feature-twice", Misreads, "join the two; GDB finds the registers of the first only").invalid().manual()
	ruleLongName     = newRule("long-name", Odd, "shorten it, so that GDB can read a trace file with the description")
)

// Rules of the header.
var (
	ruleEmptyCompatible = newRule("compatible-empty", Odd, "leave the element out")
	ruleSameCompatible  = newRule("compatible-twice", Crashes, "leave one out")
)

// Rules of numbers.
var (
	ruleNumber = newRule("number", Rejects,
		"write a decimal number, 0x and a hexadecimal or 0 and an octal one, and nothing behind it")
	ruleLimit = newRule("limit", Rejects, "stay below GDB's limit")
	ruleWrap  = newRule("number-wraps", Misreads, "write a number from 0 to 2147483647; GDB cuts off what does not fit")
	ruleZero  = newRule("size-zero", Crashes, "give the type the size of its registers in bytes")
)

// Rules of registers.
var (
	ruleUnknownType = newRule("unknown-type", Rejects,
		"define the type in the same feature and before its first use, or take a predefined one")
	ruleManualType = newRule("manual-type", Rejects,
		"define the type in the feature; GDB's manual lists it, but GDB 13 does not know it")
	ruleSaveRestore = newRule("save-restore", Rejects, "write yes or no").invalid()
	ruleSaveCase    = newRule("save-restore-case", Odd, "write yes or no in small letters").invalid().manual()
	ruleSameName    = newRule("register-name-twice", Misreads, "give each register a name of its own").manual()
	ruleSameNumber  = newRule("register-number-twice", Misreads,
		"give each register a number of its own, or leave all numbers out; GDB has both in the g packet, in whatever order")
	ruleOutside = newRule("register-outside", Odd, "leave the register out, or give it a number; GDB never has a value for it")
	ruleNoSize  = newRule("bitsize-type", Misreads,
		"name a type of the right size, such as uint128 or one with a vector; GDB takes a long or a double instead")
	ruleGroup = newRule("group-name", Odd, "use letters, digits and hyphens only").manual()
)

// Rules of types and fields.
var (
	ruleNoValue      = newRule("evalue-without-value", Crashes, "give the evalue its number").invalid()
	ruleSameType     = newRule("type-twice", Misreads, "rename or leave out the second; GDB uses the first")
	ruleRedefined    = newRule("type-redefined-after-use", Odd, "define the type before its first use, or rename it")
	ruleHalfPosition = newRule("field-half-position", Rejects, "give the field both start and end, for a single bit the same")
	ruleNoSizeBits   = newRule("bitfield-in-unsized", Rejects, "give the struct a size, or the field a type and no position")
	ruleNoType       = newRule("field-without-type", Rejects, "give the field a type, or start and end")
	ruleNoPosition   = newRule("field-in-sized", Rejects, "give the field start and end, or leave out the size of the struct")
	ruleBackwards    = newRule("bitfield-backwards", Rejects,
		"swap start and end; bit 0 is the least significant in either byte order")
	ruleBeyond   = newRule("bitfield-beyond-size", Rejects, "raise the size, which is in bytes, or lower end")
	ruleWideBool = newRule("bool-wide", Rejects, "take a number type such as uint32 for a field of several bits")
	ruleWideFlag = newRule("flags-field-wide", Odd,
		"take a struct with a size in place of flags; GDB 13 shows the field all the same").manual()
	ruleFieldType = newRule("bitfield-type-unknown", Misreads, "define the type in the same feature and before its first use")
)
