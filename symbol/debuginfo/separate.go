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

// findDebug finds the file that has the debug information: the file itself, or a separate one as GDB looks for it.
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
	name := buildIDPath(id)
	for _, dir := range f.options.DebugDirs {
		m, err := openImage(filepath.Join(dir, name))
		switch {
		case err != nil:
			f.warnUnlessMissing(err)
		case bytes.Equal(m.buildID, id) && m.hasDWARF():
			return m, ""
		default:
			m.unmap()
			f.warn("%s is not the debug information of %s", m.path, f.Path())
		}
	}
	return nil, fmt.Sprintf("no file for build ID %x in %s", id, strings.Join(f.options.DebugDirs, ":"))
}

// buildIDPath is where a debug folder has the file of a build.
func buildIDPath(id []byte) string {
	text := hex.EncodeToString(id)
	return filepath.Join(".build-id", text[:2], text[2:]+".debug")
}

func (f *File) warnUnlessMissing(err error) {
	if !os.IsNotExist(err) {
		f.warn("%v", err)
	}
}

// byDebugLink looks for the file that .gnu_debuglink names: beside this one, in .debug there, and below the debug folders.
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
	for _, candidate := range candidates {
		m, err := openImage(candidate)
		switch {
		case err != nil:
			f.warnUnlessMissing(err)
		case crc32.ChecksumIEEE(m.data) == sum && m.hasDWARF():
			return m, ""
		case m.hasDWARF() && candidate != full:
			f.warn("%s is not the debug information of %s: its checksum is another", candidate, f.Path())
			fallthrough
		default:
			m.unmap()
		}
	}
	return nil, fmt.Sprintf("no %s of checksum %#x", name, sum)
}

// loadAlt opens the file that dwz has made of what several have in common, if the debug information refers to one.
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
		if id = c.take(c.uleb()); isSupplementary != 0 {
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
	for _, candidate := range candidates {
		m, err := openImage(candidate)
		if err != nil {
			f.warnUnlessMissing(err)
			continue
		}
		if len(id) == 0 || bytes.Equal(m.buildID, id) {
			return m
		}
		m.unmap()
	}
	return nil
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
		full.adopt(u)
	}
	if missing > 0 {
		f.warnSplit(missing)
	}
}

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

func (f *File) warnSplit(missing int) {
	if _, err := os.Stat(f.Path() + ".dwp"); err == nil {
		f.warn("%s.dwp: packages of .dwo files are not read; link without dwp, or keep the .dwo files", f.Path())
		return
	}
	f.warn("%s: the .dwo files of %d units are missing; their functions and variables are not known", f.Path(), missing)
}

// adopt takes over what only the skeleton says.
func (u *Unit) adopt(skeleton *Unit) {
	if u.CompDir == "" {
		u.CompDir = skeleton.CompDir
	}
	if u.Name == "" {
		u.Name = skeleton.Name
	}
}

// openSplit opens the .dwo file of a skeleton and returns its unit of the same identity, nil when there is none.
func (f *File) openSplit(u *Unit) *Unit {
	candidates := []string{u.dwoName}
	if !filepath.IsAbs(u.dwoName) {
		dir := filepath.Dir(f.Path())
		candidates = []string{filepath.Join(u.CompDir, u.dwoName), filepath.Join(dir, u.dwoName), filepath.Join(dir, filepath.Base(u.dwoName))}
	}
	for _, candidate := range candidates {
		m, err := openImage(candidate)
		if err != nil {
			f.warnUnlessMissing(err)
			continue
		}
		if full := f.loadObject(m, u.dwoID); full != nil {
			f.images = append(f.images, m)
			return full
		}
		m.unmap()
	}
	return nil
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
