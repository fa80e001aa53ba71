package wire

// The objects that pages in a browser ask for, whatever they show. Those of one kind of page are in files of their own.
type (
	// Page is what a page is about.
	Page struct {
		Kind    string `json:"kind"` // frames, comparison or execution: the module that shows it
		Title   string `json:"title"`
		Version string `json:"version"` // of Tracewell
		Static  bool   `json:"static"`  // the page is one file: what it does not carry cannot be asked for
		Live    bool   `json:"live"`    // more may come: see PageChange
	}
	// PageChange tells a page of a live recording that there is more.
	PageChange struct {
		Seen  uint64 `json:"seen"`  // to be sent with the next question
		Ended bool   `json:"ended"` // nothing more will come
	}
	// PageError is in place of an answer.
	PageError struct {
		Error string `json:"error"` // for the user
	}
	// SourceFile is a source file with its lines.
	SourceFile struct {
		File  int      `json:"file"`            // the number by which it is asked for
		Name  string   `json:"name"`            // as the debugging information has it
		Lines []string `json:"lines"`           // null if it cannot be shown
		Error string   `json:"error,omitempty"` // why
	}
	// SourceName is a source file that may be asked for.
	SourceName struct {
		File int    `json:"file"`           // the number by which it is asked for
		Name string `json:"name"`           // as the debugging information has it
		Path string `json:"path,omitempty"` // where it is on this machine; absent if it is not, or may not be shown
	}
)
