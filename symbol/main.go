package symbol

import "tracewell/symbol/debuginfo"

// findMain returns the source file that the program begins in, in the eyes of its author; "" if nothing is known of it.
func (i *image) findMain() string {
	// A Go or Rust program also has a function main of its runtime, in C or assembly, which its author has never seen. So the main of
	// the language is looked for first.
	for _, entry := range []struct {
		name     string
		language func(debuginfo.Language) bool
	}{
		{"main.main", func(l debuginfo.Language) bool { return l == debuginfo.LanguageGo }},
		{"main", func(l debuginfo.Language) bool { return l == debuginfo.LanguageRust }},
		{"main", func(debuginfo.Language) bool { return true }},
	} {
		for _, off := range i.file.Functions(entry.name) {
			for _, instance := range i.file.Instances(off) {
				if u := i.unit(instance.Entry.Unit); entry.language(u.Language) {
					if s := u.spanAt(instance.EntryPC); s.table != nil {
						return s.table.path
					}
				}
			}
		}
	}
	return ""
}
