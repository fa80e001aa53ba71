package cli

type showCommand struct{}

func (*showCommand) Run(Streams) error { return nil }

type infoCommand struct{}

func (*infoCommand) Run(Streams) error { return nil }

type demoCommand struct{}

func (*demoCommand) Run(Streams) error { return nil }
