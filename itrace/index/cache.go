package index

// cache keeps what was asked for last, up to a limit of weight.
type cache[K comparable, V any] struct {
	limit   int
	weight  int
	clock   int64
	entries map[K]*cached[V]
}

type cached[V any] struct {
	value  V
	weight int
	used   int64
}

func (c *cache[K, V]) get(key K) (value V, ok bool) {
	e := c.entries[key]
	if e == nil {
		return value, false
	}
	c.clock++
	e.used = c.clock
	return e.value, true
}

// put keeps a value, and gives up those that have not been asked for longest: a third at once, so that looking for them is seldom.
func (c *cache[K, V]) put(key K, value V, weight int) {
	if c.entries == nil {
		c.entries = make(map[K]*cached[V])
	}
	c.clock++
	c.entries[key] = &cached[V]{value, weight, c.clock}
	if c.weight += weight; c.weight <= c.limit {
		return
	}
	for c.weight > c.limit-c.limit/3 && len(c.entries) > 1 {
		oldest, at := key, c.clock
		for k, e := range c.entries {
			if e.used < at {
				oldest, at = k, e.used
			}
		}
		c.weight -= c.entries[oldest].weight
		delete(c.entries, oldest)
	}
}
