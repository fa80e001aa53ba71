package randprog

var rustScalars = cScalars

func (g *generator) rust() {}
