package wire

import (
	"tracewell/arch"
	"tracewell/tdesc"
	"tracewell/tdesc/check"
)

// The objects of "tdesc --json". Programs rely on these names and their meaning; fields may be added.
type (
	// DescriptionReport is what "tdesc check --json" writes.
	DescriptionReport struct {
		Verdict  check.Verdict        `json:"verdict"`
		Findings []DescriptionFinding `json:"findings"`
	}
	// DescriptionFinding is a rule that a description breaks, and where.
	DescriptionFinding struct {
		Offset   int     `json:"offset"`                 // in bytes from the start of the document
		Line     int     `json:"line"`                   // from 1
		Column   int     `json:"column"`                 // from 1, in bytes
		Document string  `json:"document"`               // the annex, "" for the document that was given
		From     []Place `json:"includedFrom,omitempty"` // where documents include this one, innermost first; absent for the outermost
		Rule     string  `json:"rule"`
		Severity string  `json:"severity"`
		Text     string  `json:"text"`
		Advice   string  `json:"advice"`
		Valid    bool    `json:"valid"` // the document type definition allows it
	}
	// Place is where a document includes another.
	Place struct {
		Document string `json:"document"`
		Line     int    `json:"line"`   // from 1
		Column   int    `json:"column"` // from 1, in bytes
	}
	// Slot is where a register lies in the g packet, in bytes.
	Slot struct {
		Name    string   `json:"name"`
		Number  arch.Reg `json:"regnum"` // GDB's number of it
		Offset  int      `json:"offset"` // bytes from the start of the packet
		Size    int      `json:"size"`   // bytes
		Type    string   `json:"type"`
		Feature string   `json:"feature"`
	}
	// Description is what "tdesc print --json" writes.
	Description struct {
		Version      string    `json:"version"`
		Architecture string    `json:"architecture"`
		OSABI        string    `json:"osabi"`
		Compatible   []string  `json:"compatible"`
		Features     []Feature `json:"features"`
	}
	// Feature is a named group of registers with their types.
	Feature struct {
		Name      string     `json:"name"`
		Types     []Type     `json:"types"`
		Registers []Register `json:"registers"`
	}
	// Type is a type that a feature defines.
	Type struct {
		Kind    string      `json:"kind"` // vector, struct, union, flags or enum
		ID      string      `json:"id"`
		Size    int         `json:"size,omitempty"`    // bytes, of struct, flags and enum; absent if the document does not tell
		Element string      `json:"element,omitempty"` // type of each, of a vector
		Count   *int        `json:"count,omitempty"`   // of elements, of a vector
		Fields  []Field     `json:"fields,omitempty"`  // of struct, union and flags
		Values  []EnumValue `json:"values,omitempty"`  // of an enum
	}
	// Field is a member of a type; Start and End are the bits of a bit-field.
	Field struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Start *int   `json:"start,omitempty"` // lowest bit; absent for what is no bit-field
		End   *int   `json:"end,omitempty"`   // highest bit; likewise
	}
	// EnumValue is a value that has a name.
	EnumValue struct {
		Name  string `json:"name"`
		Value int    `json:"value"` // an integer
	}
	// Register is a register as its feature declares it.
	Register struct {
		Name        string   `json:"name"`
		Number      arch.Reg `json:"regnum"`  // GDB's number of it
		Bits        int      `json:"bitsize"` // bits
		Type        string   `json:"type"`
		Group       string   `json:"group,omitempty"` // absent if the document does not tell
		SaveRestore bool     `json:"saveRestore"`     // across calls that GDB makes
	}
	// Differences is what "tdesc diff --json" writes.
	Differences struct {
		Verdict     string                  `json:"verdict"` // equal or different
		Differences []DescriptionDifference `json:"differences"`
	}
	// DescriptionDifference is what two descriptions do not agree in.
	DescriptionDifference struct {
		Kind     string `json:"kind"`
		Name     string `json:"name,omitempty"`     // of a register, type or feature; absent for the whole
		Property string `json:"property,omitempty"` // in which they differ; absent if one description lacks all of it
		First    string `json:"first"`
		Second   string `json:"second"`
	}
)

// DescribeReport describes what is wrong with a description.
func DescribeReport(report *check.Report) DescriptionReport {
	object := DescriptionReport{report.Verdict, []DescriptionFinding{}}
	for _, f := range report.Findings {
		finding := DescriptionFinding{
			Offset: f.Pos.Offset, Line: f.Pos.Line, Column: f.Pos.Column, Document: f.Pos.Annex,
			Rule: f.Rule.Name, Severity: f.Rule.Severity.String(), Text: f.Text, Advice: f.Rule.Advice, Valid: !f.Rule.Invalid,
		}
		for from := f.Pos.From; from != nil; from = from.From {
			finding.From = append(finding.From, Place{from.Annex, from.Line, from.Column})
		}
		object.Findings = append(object.Findings, finding)
	}
	return object
}

// DescribeLayout describes where registers lie.
func DescribeLayout(layout *tdesc.Layout) []Slot {
	objects := []Slot{}
	for i := range layout.Slots {
		s := &layout.Slots[i]
		objects = append(objects, Slot{s.Reg.Name, s.Reg.Num, s.Offset, s.Size, s.Reg.Type, s.Feature.Name})
	}
	return objects
}

// DescribeDescription describes a target description.
func DescribeDescription(t *tdesc.Target) Description {
	object := Description{
		Version: t.Version, Architecture: t.Architecture, OSABI: t.OSABI,
		Compatible: append([]string{}, t.Compatible...), Features: []Feature{},
	}
	for _, f := range t.Features {
		feature := Feature{Name: f.Name, Types: []Type{}, Registers: []Register{}}
		for _, t := range f.Types {
			feature.Types = append(feature.Types, describeType(t))
		}
		for _, r := range f.Registers {
			feature.Registers = append(feature.Registers, Register{r.Name, r.Num, r.Bits, r.Type, r.Group, r.SaveRestore})
		}
		object.Features = append(object.Features, feature)
	}
	return object
}

func describeType(t tdesc.Type) Type {
	object := Type{ID: t.TypeID()}
	switch t := t.(type) {
	case tdesc.Vector:
		object.Kind, object.Element, object.Count = "vector", t.Elem, &t.Count
	case tdesc.Struct:
		object.Kind, object.Size, object.Fields = "struct", t.Size, describeFields(t.Fields, t.Bits)
	case tdesc.Union:
		object.Kind, object.Fields = "union", describeFields(t.Fields, nil)
	case tdesc.Flags:
		object.Kind, object.Size, object.Fields = "flags", t.Size, describeFields(nil, t.Bits)
	case tdesc.Enum:
		object.Kind, object.Size = "enum", t.Size
		for _, v := range t.Values {
			object.Values = append(object.Values, EnumValue{v.Name, v.Value})
		}
	}
	return object
}

func describeFields(fields []tdesc.Field, bits []tdesc.BitField) []Field {
	var objects []Field
	for _, f := range fields {
		objects = append(objects, Field{Name: f.Name, Type: f.Type})
	}
	for _, f := range bits {
		objects = append(objects, Field{f.Name, f.Type, &f.Start, &f.End})
	}
	return objects
}

// DescribeDifferences describes how two descriptions differ.
func DescribeDifferences(differences []tdesc.Difference) Differences {
	object := Differences{"equal", []DescriptionDifference{}}
	for _, d := range differences {
		object.Verdict = "different"
		object.Differences = append(object.Differences, DescriptionDifference{d.Kind, d.Name, d.Property, d.A, d.B})
	}
	return object
}
