package debuginfo

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
)

// findDebug finds the file that has the debug information: the file itself, or a separate one in GDB's order, by build ID and
// then by debug link. The reason names every place that was searched: it is all that a user has to find out which package is
// missing.
func (f *File) findDebug() (found *image, why string) {
	if f.main.hasDWARF() {
		return f.main, ""
	}
	tried := []string{"the file has none itself"}
	for _, look := range []func() (*image, string){f.byBuildID, f.byDebugLink} {
		m, reason := look()
		if m != nil {
			f.images = append(f.images, m)
			return m, ""
		}
		if reason != "" {
			tried = append(tried, reason)
		}
	}
	return nil, "no debug information for " + f.Path() + ": " + strings.Join(tried, ", ")
}

// hasDWARF reports whether an image has DIEs. The section may exist and be empty: objcopy --only-keep-debug leaves code sections
// without content, and strip leaves none of these at all.
func (m *image) hasDWARF() bool {
	for _, name := range []string{".debug_info", ".debug_types"} {
		if s := m.sections[name]; s != nil && len(s.raw) > 0 {
			return true
		}
	}
	return false
}

// byBuildID looks in the debug folders for a file of the same build.
func (f *File) byBuildID() (*image, string) {
	id := f.main.buildID
	if len(id) < 2 {
		return nil, "no build ID"
	}
	var candidates []string
	for _, dir := range f.options.DebugDirs {
		candidates = append(candidates, filepath.Join(dir, buildIDPath(id)))
	}
	found := f.openFirst(candidates, func(m *image) bool {
		same := bytes.Equal(m.buildID, id) && m.hasDWARF()
		if !same {
			f.warn("%s is not the debug information of %s", m.path, f.Path())
		}
		return same
	})
	return found, fmt.Sprintf("no file for build ID %x in %s", id, strings.Join(f.options.DebugDirs, ":"))
}

// buildIDPath is where a debug folder has the file of a build: .build-id/ab/cdef….debug, the first byte being a folder.
func buildIDPath(id []byte) string {
	text := hex.EncodeToString(id)
	return filepath.Join(".build-id", text[:2], text[2:]+".debug")
}

// openFirst opens the first of the candidates that is accepted and closes the others, nil if none is. That a file does not exist
// is what a search expects; any other reason why one cannot be opened is a warning.
func (f *File) openFirst(candidates []string, accept func(m *image) bool) *image {
	for _, candidate := range candidates {
		m, err := openImage(candidate)
		switch {
		case err == nil && accept(m):
			return m
		case err == nil:
			m.unmap()
		case !os.IsNotExist(err):
			f.warn("%v", err)
		}
	}
	return nil
}

// byDebugLink looks for the file that .gnu_debuglink names: beside this one, in .debug there, and below the debug folders. The
// section holds the name, zeros up to a multiple of four, and the CRC-32 of the whole file, which is what makes sure that it is
// of the same build. The file's own name may be the link's: then the search finds the stripped file itself, which is no reason to
// warn.
func (f *File) byDebugLink() (*image, string) {
	link := f.main.section(".gnu_debuglink")
	c := f.main.cursorAt(link, 0)
	name := string(c.text())
	c.skip(-c.at & 3)
	sum := c.u32()
	if c.bad || name == "" || name != filepath.Base(name) {
		return nil, "no debug link"
	}
	full, err := filepath.Abs(f.Path())
	if err != nil {
		full = f.Path()
	}
	if real, err := filepath.EvalSymlinks(full); err == nil {
		full = real
	}
	dir := filepath.Dir(full)
	candidates := []string{filepath.Join(dir, name), filepath.Join(dir, ".debug", name)}
	for _, debug := range f.options.DebugDirs {
		candidates = append(candidates, filepath.Join(debug, dir, name))
	}
	found := f.openFirst(candidates, func(m *image) bool {
		same := crc32.ChecksumIEEE(m.data) == sum
		if !same && m.hasDWARF() && m.path != full {
			f.warn("%s is not the debug information of %s: its checksum is another", m.path, f.Path())
		}
		return same && m.hasDWARF()
	})
	return found, fmt.Sprintf("no %s of checksum %#x", name, sum)
}

// loadAlt opens the supplementary file that dwz -m made of what several files have in common, if the debug information refers to
// one: by .gnu_debugaltlink, a name and a build ID, or by DWARF 5's .debug_sup (7.3.6), which dwz --dwarf-5 writes. In the
// supplementary file itself .debug_sup has is_supplementary set.
func (f *File) loadAlt() {
	section := f.debug.section(".gnu_debugaltlink")
	name, id := "", []byte(nil)
	if section != nil {
		c := cursorAt(section, 0)
		name = string(c.text())
		id = section[c.at:]
	} else if c := f.debug.cursorAt(f.debug.section(".debug_sup"), 0); len(c.data) > 0 { // DWARF 5's own
		c.u16()
		isSupplementary := c.u8()
		name = string(c.text())
		if id = c.bytes(c.uleb()); isSupplementary != 0 {
			return
		}
	}
	if name == "" {
		return
	}
	m := f.openAlt(name, id)
	if m == nil {
		f.warn("%s: the file %s, which has debug information that it shares with others, is missing", f.debug.path, name)
		return
	}
	f.images = append(f.images, m)
	f.unpackAll(m)
	alt := f.addSpace(m, ".debug_info", "")
	for _, s := range f.spaces {
		if s != alt {
			s.alt = alt
		}
	}
}

// openAlt opens the file of a name and a build ID: relative to the debug file, to where that really is if it is a link, and in
// the debug folders, where distributions put it into .dwz.
func (f *File) openAlt(name string, id []byte) *image {
	candidates := []string{name}
	if !filepath.IsAbs(name) {
		candidates = []string{filepath.Join(filepath.Dir(f.debug.path), name)}
		if real, err := filepath.EvalSymlinks(f.debug.path); err == nil {
			candidates = append(candidates, filepath.Join(filepath.Dir(real), name))
		}
	}
	for _, dir := range f.options.DebugDirs {
		if len(id) > 1 {
			candidates = append(candidates, filepath.Join(dir, buildIDPath(id)))
		}
		candidates = append(candidates, filepath.Join(dir, ".dwz", filepath.Base(name)))
	}
	return f.openFirst(candidates, func(m *image) bool { return len(id) == 0 || bytes.Equal(m.buildID, id) })
}

// loadSplit opens the .dwo files of all skeletons, and puts their units in place.
func (f *File) loadSplit() {
	missing := 0
	for _, u := range f.skeletons() {
		full := f.openSplit(u)
		if full == nil {
			missing++
			continue
		}
		u.split, full.skeleton = full, u
		full.inherit(u)
	}
	if missing > 0 {
		f.warnSplit(missing)
	}
}

// skeletons are the units of linked files that name a .dwo file: a skeleton unit of DWARF 5, a compile unit with GNU's attributes
// before. In a .dwo file Clang 14 repeats the name in the unit itself, which is no skeleton.
func (f *File) skeletons() []*Unit {
	var all []*Unit
	for _, s := range f.spaces {
		for _, u := range s.units {
			if u.dwoName != "" && !s.dwo {
				all = append(all, u)
			}
		}
	}
	return all
}

// warnSplit says once for all units what is lost without their .dwo files, rather than once for each.
func (f *File) warnSplit(missing int) {
	if _, err := os.Stat(f.Path() + ".dwp"); err == nil {
		f.warn("%s.dwp: packages of .dwo files are not read; link without dwp, or keep the .dwo files", f.Path())
		return
	}
	f.warn("%s: the .dwo files of %d units are missing; their functions and variables are not known", f.Path(), missing)
}

// inherit copies what only the skeleton has: GCC 12 writes name and folder into both units, Clang 14 the folder into the skeleton
// alone.
func (u *Unit) inherit(skeleton *Unit) {
	if u.CompDir == "" {
		u.CompDir = skeleton.CompDir
	}
	if u.Name == "" {
		u.Name = skeleton.Name
	}
}

// openSplit opens the .dwo file of a skeleton and returns its unit of the same identity, nil when there is none. The file is named
// relative to where the compiler ran; programs are moved with their .dwo files, so the program's own folder is searched, too.
func (f *File) openSplit(u *Unit) (full *Unit) {
	candidates := []string{u.dwoName}
	if !filepath.IsAbs(u.dwoName) {
		dir := filepath.Dir(f.Path())
		below := func(folder string) string { return filepath.Join(folder, u.dwoName) }
		candidates = []string{below(u.CompDir), below(dir), filepath.Join(dir, filepath.Base(u.dwoName))}
	}
	found := f.openFirst(candidates, func(m *image) bool {
		full = f.loadObject(m, u.dwoID)
		return full != nil
	})
	if found != nil {
		f.images = append(f.images, found)
	}
	return full
}

// loadObject makes the spaces of a .dwo file, if it has the unit of that identity.
func (f *File) loadObject(m *image, id uint64) *Unit {
	before := len(f.spaces)
	info := f.addSpace(m, ".debug_info", ".dwo")
	f.addSpace(m, ".debug_types", ".dwo")
	var full *Unit
	for _, s := range f.spaces[before:] {
		s.readUnits()
	}
	if info != nil {
		for _, u := range info.units {
			if u.dwoID == id && !u.isType() {
				full = u
			}
		}
	}
	if full == nil {
		f.spaces = f.spaces[:before]
		return nil
	}
	return full
}
