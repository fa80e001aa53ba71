package target

// OS describes the system that the program runs on, in tables of what there is on all of it (GDB manual, Operating System
// Auxiliary Information). GDB's "info os" prints them.
type OS interface {
	// OSTables lists the tables, without their rows.
	OSTables() []OSTable
	// ReadOSTable reads a table by the name that OSTables gives it.
	ReadOSTable(name string) (OSTable, error)
}

// OSTable is a table about the system. What comes and goes while it is read may or may not be in it.
type OSTable struct {
	Name    string // what "info os" is told
	Type    string // what the rows are
	Title   string // what a person is shown instead
	About   string // a line that says more
	Columns []string
	Rows    [][]string // with a value for each column
}
