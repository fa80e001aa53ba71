package wire

// Build is what "version --json" writes: what the binary was built from, as the go command recorded it. A binary built outside of a
// repository has neither commit nor time.
type Build struct {
	Version  string `json:"version"`            // of the module, "development" between releases
	Commit   string `json:"commit,omitempty"`   // in full
	Time     string `json:"time,omitempty"`     // of the commit, in the form of RFC 3339
	Modified bool   `json:"modified,omitempty"` // the files were not those of the commit
	Go       string `json:"go"`                 // version of the compiler
	Platform string `json:"platform"`           // the system and the processor, as Go names them: linux/amd64
}
