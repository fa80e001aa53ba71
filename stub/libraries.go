package stub

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"

	"tracewell/arch"
	"tracewell/inferior"
	"tracewell/rsp"
)

// librariesElement and libraryElement are the document of qXfer:libraries-svr4, see the GDB manual, Library List Format
// for SVR4 Targets.
type librariesElement struct {
	XMLName xml.Name         `xml:"library-list-svr4"`
	Version string           `xml:"version,attr"`
	Main    string           `xml:"main-lm,attr,omitempty"`
	Objects []libraryElement `xml:"library"`
}

type libraryElement struct {
	Name string `xml:"name,attr"`
	LM   string `xml:"lm,attr"`
	Addr string `xml:"l_addr,attr"`
	LD   string `xml:"l_ld,attr"`
	LMID string `xml:"lmid,attr"` // GDB 13 tells namespaces apart by it
}

// librariesDocument is qXfer:libraries-svr4:read. The main program is in main-lm and not in the list.
func (x *session) librariesDocument(annex string) ([]byte, error) {
	// The annex comes first: it is malformed whether or not there is a process.
	from, err := parseLibraryRange(annex)
	if err != nil {
		return nil, err
	}
	id, err := x.thread()
	if err != nil {
		return nil, err
	}
	links, err := x.target.Libraries().ReadLibraries(id.PID)
	if err != nil {
		return nil, err
	}
	// A first reading is of everything. At a stop at the dynamic linker's breakpoint GDB asks for what is new.
	if from.start == 0 {
		return marshal(libraryList(links))
	}
	rest, err := from.cut(links.Objects)
	if err != nil {
		return nil, err
	}
	doc := libraryList(inferior.LinkMap{Main: links.Main, Objects: rest})
	// A part is appended to a list that has the main program already.
	doc.Main = ""
	return marshal(doc)
}

// libraryRange is the part of the list that a client asks for which knows the rest: the objects of one namespace from start
// on. It says which object it knows to be in front of that, 0 for none.
type libraryRange struct{ start, prev, lmid arch.Addr }

// parseLibraryRange reads "NAME=ADDRESS;...". Other names, and everything without a start, do not count (GDB manual,
// qXfer:libraries-svr4:read).
func parseLibraryRange(annex string) (libraryRange, error) {
	var r libraryRange
	fields := map[string]*arch.Addr{"start": &r.start, "prev": &r.prev, "lmid": &r.lmid}
	for item := range strings.SplitSeq(annex, ";") {
		name, value, _ := strings.Cut(item, "=")
		if field := fields[name]; field != nil && value != "" {
			in := rsp.NewScanner(value)
			*field = arch.Addr(in.HexField())
			if err := in.End(); err != nil {
				return r, fmt.Errorf("%s of the annex %q: %w", name, annex, err)
			}
		}
	}
	return r, nil
}

// cut returns what of the objects is in the range. The error says that the list is not as the client thinks; GDB then reads
// all of it.
func (r libraryRange) cut(objects []inferior.LinkObject) ([]inferior.LinkObject, error) {
	i := slices.IndexFunc(objects, func(o inferior.LinkObject) bool { return o.LM == r.start && (r.lmid == 0 || o.LMID == r.lmid) })
	if i < 0 {
		return nil, fmt.Errorf("the dynamic linker's list has no entry at %v", r.start)
	}
	// Entries of a namespace stand together, in the order of its link map.
	inNamespace := func(k int) bool { return k >= 0 && k < len(objects) && objects[k].LMID == objects[i].LMID }
	var prev arch.Addr
	if inNamespace(i - 1) {
		prev = objects[i-1].LM
	}
	// GDB falls back to reading the whole list, which is right whatever was unloaded in between.
	if prev != r.prev {
		return nil, fmt.Errorf("the entry in front of that at %v is at %v, not at %v", r.start, prev, r.prev)
	}
	end := i
	for inNamespace(end) {
		end++
	}
	return objects[i:end], nil
}

// libraryList leaves out what has no name, as gdbserver does: GDB could only fail to find it.
func libraryList(links inferior.LinkMap) librariesElement {
	doc := librariesElement{Version: "1.0"}
	if links.Main != 0 {
		doc.Main = links.Main.String()
	}
	for _, o := range links.Objects {
		if o.LM != links.Main && o.Name != "" {
			doc.Objects = append(doc.Objects, libraryElement{
				o.Name, o.LM.String(), o.Addr.String(), o.LD.String(), o.LMID.String(),
			})
		}
	}
	return doc
}
