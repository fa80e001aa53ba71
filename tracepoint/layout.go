package tracepoint

import "tracewell/target"

// LayoutOf returns the layout of an engine that collects whole register blocks of a target, as the g packet has them, and in which
// everything else has its default. Its error is that of the target's description.
func LayoutOf(t target.Target) (Layout, error) {
	layout, err := t.Description().Layout()
	if err != nil {
		return Layout{}, err
	}
	pc := layout.ByNumber(t.ISA().PC)
	return Layout{Order: t.ISA().Order, RegisterBlock: layout.Size, PCOffset: pc.Offset}, nil
}
