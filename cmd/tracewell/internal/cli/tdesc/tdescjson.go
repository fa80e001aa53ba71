package tdesc

import (
	"tracewell/arch"
	"tracewell/tdesc"
	"tracewell/tdesc/check"
)

// The objects of "tdesc --json". Programs rely on these names and their meaning; fields may be added.
type (
	reportObject struct {
		Verdict  check.Verdict        `json:"verdict"`
		Findings []tdescFindingObject `json:"findings"`
	}
	tdescFindingObject struct {
		Offset   int           `json:"offset"` // in bytes from the start of the document
		Line     int           `json:"line"`
		Column   int           `json:"column"`
		Document string        `json:"document"` // the annex, "" for the document that was given
		From     []placeObject `json:"includedFrom,omitempty"`
		Rule     string        `json:"rule"`
		Severity string        `json:"severity"`
		Text     string        `json:"text"`
		Advice   string        `json:"advice"`
		Valid    bool          `json:"valid"` // the document type definition allows it
	}
	placeObject struct {
		Document string `json:"document"`
		Line     int    `json:"line"`
		Column   int    `json:"column"`
	}
	slotObject struct {
		Name    string   `json:"name"`
		Number  arch.Reg `json:"regnum"`
		Offset  int      `json:"offset"`
		Size    int      `json:"size"`
		Type    string   `json:"type"`
		Feature string   `json:"feature"`
	}
	descriptionObject struct {
		Version      string          `json:"version"`
		Architecture string          `json:"architecture"`
		OSABI        string          `json:"osabi"`
		Compatible   []string        `json:"compatible"`
		Features     []featureObject `json:"features"`
	}
	featureObject struct {
		Name      string           `json:"name"`
		Types     []typeObject     `json:"types"`
		Registers []registerObject `json:"registers"`
	}
	typeObject struct {
		Kind    string            `json:"kind"` // vector, struct, union, flags or enum
		ID      string            `json:"id"`
		Size    int               `json:"size,omitempty"`
		Element string            `json:"element,omitempty"`
		Count   *int              `json:"count,omitempty"`
		Fields  []fieldObject     `json:"fields,omitempty"`
		Values  []enumValueObject `json:"values,omitempty"`
	}
	fieldObject struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Start *int   `json:"start,omitempty"`
		End   *int   `json:"end,omitempty"`
	}
	enumValueObject struct {
		Name  string `json:"name"`
		Value int    `json:"value"`
	}
	registerObject struct {
		Name        string   `json:"name"`
		Number      arch.Reg `json:"regnum"`
		Bits        int      `json:"bitsize"`
		Type        string   `json:"type"`
		Group       string   `json:"group,omitempty"`
		SaveRestore bool     `json:"saveRestore"`
	}
	differencesObject struct {
		Verdict     string             `json:"verdict"` // equal or different
		Differences []differenceObject `json:"differences"`
	}
	differenceObject struct {
		Kind     string `json:"kind"`
		Name     string `json:"name,omitempty"`
		Property string `json:"property,omitempty"`
		First    string `json:"first"`
		Second   string `json:"second"`
	}
)

func describeReport(report *check.Report) reportObject {
	object := reportObject{report.Verdict, []tdescFindingObject{}}
	for _, f := range report.Findings {
		finding := tdescFindingObject{
			Offset: f.Pos.Offset, Line: f.Pos.Line, Column: f.Pos.Column, Document: f.Pos.Annex,
			Rule: f.Rule.Name, Severity: f.Rule.Severity.String(), Text: f.Text, Advice: f.Rule.Advice, Valid: !f.Rule.Invalid,
		}
		for from := f.Pos.From; from != nil; from = from.From {
			finding.From = append(finding.From, placeObject{from.Annex, from.Line, from.Column})
		}
		object.Findings = append(object.Findings, finding)
	}
	return object
}

func describeLayout(layout *tdesc.Layout) []slotObject {
	objects := []slotObject{}
	for i := range layout.Slots {
		s := &layout.Slots[i]
		objects = append(objects, slotObject{s.Reg.Name, s.Reg.Num, s.Offset, s.Size, s.Reg.Type, s.Feature.Name})
	}
	return objects
}

func describeDescription(t *tdesc.Target) descriptionObject {
	object := descriptionObject{
		Version: t.Version, Architecture: t.Architecture, OSABI: t.OSABI,
		Compatible: append([]string{}, t.Compatible...), Features: []featureObject{},
	}
	for _, f := range t.Features {
		feature := featureObject{Name: f.Name, Types: []typeObject{}, Registers: []registerObject{}}
		for _, t := range f.Types {
			feature.Types = append(feature.Types, describeType(t))
		}
		for _, r := range f.Registers {
			feature.Registers = append(feature.Registers, registerObject{r.Name, r.Num, r.Bits, r.Type, r.Group, r.SaveRestore})
		}
		object.Features = append(object.Features, feature)
	}
	return object
}

func describeType(t tdesc.Type) typeObject {
	object := typeObject{ID: t.TypeID()}
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
			object.Values = append(object.Values, enumValueObject{v.Name, v.Value})
		}
	}
	return object
}

func describeFields(fields []tdesc.Field, bits []tdesc.BitField) []fieldObject {
	var objects []fieldObject
	for _, f := range fields {
		objects = append(objects, fieldObject{Name: f.Name, Type: f.Type})
	}
	for _, f := range bits {
		objects = append(objects, fieldObject{f.Name, f.Type, &f.Start, &f.End})
	}
	return objects
}

func describeDifferences(differences []tdesc.Difference) differencesObject {
	object := differencesObject{"equal", []differenceObject{}}
	for _, d := range differences {
		object.Verdict = "different"
		object.Differences = append(object.Differences, differenceObject{d.Kind, d.Name, d.Property, d.A, d.B})
	}
	return object
}
