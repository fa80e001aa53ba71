package stub

import (
	"encoding/xml"
	"slices"

	"tracewell/target"
)

// osdataElement, itemElement and columnElement are the document of qXfer:osdata, see the GDB manual, Operating System
// Auxiliary Information.
type osdataElement struct {
	XMLName xml.Name      `xml:"osdata"`
	Type    string        `xml:"type,attr"`
	Items   []itemElement `xml:"item"`
}

type itemElement struct {
	Columns []columnElement `xml:"column"`
}

type columnElement struct {
	Name  string `xml:"name,attr"`
	Value string `xml:",chardata"`
}

// osDocument is qXfer:osdata:read, whose annex is a table. None is the list of tables. Of a table that is not there nothing
// is sent, as by gdbserver 13.1: to an error GDB 13.1 says that there are no tables at present.
func (x *session) osDocument(annex string) ([]byte, error) {
	os := x.target.OS()
	tables := os.OSTables()
	if annex == "" {
		return marshal(osElement(listOfTables(tables)))
	}
	// GDB passes the user's word on as it is: "info os nonsense".
	if !slices.ContainsFunc(tables, func(t target.OSTable) bool { return t.Name == annex }) {
		return nil, nil
	}
	table, err := os.ReadOSTable(annex)
	if err != nil {
		return nil, err
	}
	return marshal(osElement(table))
}

// listOfTables is the table of tables. GDB shows the title only where a person picks from a menu.
func listOfTables(tables []target.OSTable) target.OSTable {
	list := target.OSTable{Type: "types", Columns: []string{"Type", "Description", "Title"}}
	for _, t := range tables {
		list.Rows = append(list.Rows, []string{t.Name, t.About, t.Title})
	}
	return list
}

func osElement(t target.OSTable) osdataElement {
	doc := osdataElement{Type: t.Type}
	for _, row := range t.Rows {
		var item itemElement
		// Every item names its columns: the document has no heading.
		for i, value := range row {
			item.Columns = append(item.Columns, columnElement{t.Columns[i], value})
		}
		doc.Items = append(doc.Items, item)
	}
	return doc
}
