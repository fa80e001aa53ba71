package rsp

// tree is summed up by six functions, one for each kind of node.
type tree struct{ below []*tree }

func (t *tree) sum() int { return t.a() }
func (t *tree) a() int   { return t.b() }
func (t *tree) b() int   { return t.c() }
func (t *tree) c() int   { return t.d() }
func (t *tree) d() int   { return t.e() }
func (t *tree) e() (n int) {
	for _, b := range t.below {
		n += b.sum()
	}
	return n
}
