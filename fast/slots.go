package fast

// Slots is what the reader knows of the slots of a site: all that it relies on when it reads one.
type Slots struct{ site, size int }
