package rsp

type circle struct{ left int }

func (c *circle) first()  { c.second() }
func (c *circle) second() { func() { c.third() }() }
func (c *circle) third()  { fourth(c) }
func fourth[T any](v T)   { fifth(v) }
func fifth(v any)         { sixth(v.(*circle)) }
func sixth(c *circle)     { (c).first() }

// outside calls the circle and is not called by it.
func outside(c *circle) { c.first() }
