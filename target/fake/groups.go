package fake

import (
	"maps"
	"slices"

	"tracewell/arch"
	"tracewell/target"
	"tracewell/tracepoint"
)

// Runner returns the ability to run the script.
func (t *Target) Runner() target.Runner {
	if t.program.CoreOnly {
		return nil
	}
	return t
}

// Breakpoints returns the ability to stop at breakpoints. Only software breakpoints are ever met by the script.
func (t *Target) Breakpoints() target.Breakpoints {
	if t.program.CoreOnly {
		return nil
	}
	return t
}

// Tracer returns the ability to run tracepoints.
func (t *Target) Tracer() target.Tracer {
	if t.program.CoreOnly {
		return nil
	}
	return t
}

// Auxv returns the group when the program has an auxiliary vector.
func (t *Target) Auxv() target.Auxv {
	if t.program.Auxv == nil {
		return nil
	}
	return t
}

// ExecFile returns the group when the program has a path.
func (t *Target) ExecFile() target.ExecFile {
	if t.program.Exec == "" {
		return nil
	}
	return t
}

// Libraries returns the group when the program has a link map.
func (t *Target) Libraries() target.Libraries {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.program.Libraries == nil {
		return nil
	}
	return t
}

// Siginfo returns the group when the program has signal details.
func (t *Target) Siginfo() target.Siginfo {
	if t.program.Siginfo == nil {
		return nil
	}
	return t
}

// ReadOnly returns the group that tells read-only mappings.
func (t *Target) ReadOnly() target.ReadOnly { return readOnly{t} }

// Files returns the group when the program has files.
func (t *Target) Files() target.Files {
	if t.program.Files == nil {
		return nil
	}
	return files{t}
}

// Signals returns the group when the program is to have it.
func (t *Target) Signals() target.Signals {
	if !t.program.Passing {
		return nil
	}
	return t
}

// PassSignals sets the signals that events of the script are passed over for.
func (t *Target) PassSignals(signals []target.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.passing = make(map[target.Signal]bool)
	for _, s := range signals {
		t.passing[s] = true
	}
}

// ProgramSignals remembers the signals; no thread is ever let go with one.
func (t *Target) ProgramSignals(signals []target.Signal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken = signals
}

// Taken lists the signals that were last given to ProgramSignals.
func (t *Target) Taken() []target.Signal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken
}

// Passed lists the signals that were last given to PassSignals, in order.
func (t *Target) Passed() []target.Signal {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Sorted(maps.Keys(t.passing))
}

// InsertBreakpoint inserts a breakpoint where there is memory.
func (t *Target) InsertBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := t.find(id); err != nil {
		return err
	}
	if b.Kind == target.ReadWatch { // as on x86, which has none
		return target.ErrUnsupported
	}
	t.breaks[breakpoint{b.Kind, place{id.PID, b.Addr}}] = true
	return nil
}

// RemoveBreakpoint removes a breakpoint.
func (t *Target) RemoveBreakpoint(id target.ThreadID, b target.Breakpoint) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.breaks, breakpoint{b.Kind, place{id.PID, b.Addr}})
	return nil
}

// Installer puts sites into one process.
func (t *Target) Installer(pid int) tracepoint.Installer { return installer{t, pid} }

// installer is the target as far as one process goes, or the child that took its place.
type installer struct {
	*Target
	pid int
}

// SetEngine names the engine that is told of steps and of ended threads.
func (t *Target) SetEngine(e *tracepoint.Engine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.engine = e
}

// Install puts a site at its address. There must be a process, and memory.
func (i installer) Install(site *tracepoint.Site) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if _, err := i.find(target.ThreadID{PID: i.pid, TID: target.All}); err != nil {
		return target.ErrNoProcess
	}
	if i.region(site.Addr) == nil {
		return &noMemoryError{site.Addr}
	}
	at := place{i.pid, site.Addr}
	i.sites[at] = append(i.sites[at], site)
	return nil
}

// Uninstall takes a site away, in whichever process it is by now.
func (i installer) Uninstall(site *tracepoint.Site) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	for at, sites := range i.sites {
		if n := slices.Index(sites, site); n >= 0 {
			i.sites[at] = slices.Delete(slices.Clone(sites), n, n+1)
		}
	}
	return nil
}

// noMemoryError says that nothing is mapped where a site should go.
type noMemoryError struct{ addr arch.Addr }

func (e *noMemoryError) Error() string { return "no memory at " + e.addr.String() }

// ReadAuxv returns the program's auxiliary vector.
func (t *Target) ReadAuxv(int) ([]byte, error) { return t.program.Auxv, nil }

// ReadExecFile returns the program's path.
func (t *Target) ReadExecFile(int) (string, error) { return t.program.Exec, nil }

// ReadLibraries returns the program's link map.
func (t *Target) ReadLibraries(int) (target.LinkMap, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.program.Libraries == nil {
		return target.LinkMap{}, target.ErrNoProcess
	}
	return *t.program.Libraries, nil
}

// ReadSiginfo returns the program's signal details.
func (t *Target) ReadSiginfo(target.ThreadID) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.program.Siginfo), nil
}

// WriteSiginfo replaces them.
func (t *Target) WriteSiginfo(_ target.ThreadID, b []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.program.Siginfo = slices.Clone(b)
	return nil
}

// readOnly is a type of its own because the group and its only method have one name.
type readOnly struct{ t *Target }

// ReadOnly reports whether the n bytes from addr on lie in read-only mappings.
func (r readOnly) ReadOnly(_ target.ThreadID, addr arch.Addr, n int) bool {
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	for done := 0; done < n; {
		m := r.t.region(addr + arch.Addr(done))
		if m == nil || !m.ReadOnly {
			return false
		}
		done += len(m.Bytes) - int(addr+arch.Addr(done)-m.Start)
	}
	return true
}
