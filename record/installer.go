//go:build linux && amd64

package record

import (
	"errors"

	"tracewell/target"
	"tracewell/tracepoint"
)

// installer puts sites into all processes that want them.
type installer struct{ *Session }

// Install implements tracepoint.Installer.
func (i installer) Install(site *tracepoint.Site) error {
	i.sites[site.Addr] = site
	for pid, p := range i.processes {
		if p.sites[site.Addr] {
			if err := i.target.Tracer().Installer(pid).Install(site); err != nil && !errors.Is(err, target.ErrNoProcess) {
				return err
			}
		}
	}
	return nil
}

// Uninstall implements tracepoint.Installer.
func (i installer) Uninstall(site *tracepoint.Site) error {
	var errs []error
	for pid, p := range i.processes {
		if p.sites[site.Addr] {
			errs = append(errs, i.target.Tracer().Installer(pid).Uninstall(site))
		}
	}
	return errors.Join(errs...)
}
