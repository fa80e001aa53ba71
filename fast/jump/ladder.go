package jump

type ladder struct {
	*Planner
	site   Site
	causes []string
}

func (l *ladder) admit() string  { return "" }
func (l *ladder) jump() *Plan    { return nil }
func (l *ladder) overlap() *Plan { return nil }
func (l *ladder) pun() *Plan     { return nil }
func (l *ladder) short() *Plan   { return nil }
func (l *ladder) unclean() *Plan { return nil }
