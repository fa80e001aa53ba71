package routine

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// scene is in the environment of a test binary that is to panic.
const scene = "TRACEWELL_TEST_PANIC"

// scenes are processes that end by a panic. Each prints what it does.
var scenes = map[string]func(){
	"goroutine": func() {
		OnPanic(func() { os.Stdout.WriteString("left\n") })
		OnPanic(func() { os.Stdout.WriteString("taken back\n") })()
		Go(func() { panic("planted") })
		select {}
	},
	"main": func() {
		defer Catch(func() { os.Stdout.WriteString("own\n") })
		OnPanic(func() { os.Stdout.WriteString("left\n") })
		panic("planted")
	},
	"goroutine with its own": func() {
		Go(func() {
			defer Catch(func() { os.Stdout.WriteString("left\n") })
			panic("planted")
		})
		select {}
	},
	"leave panics": func() {
		OnPanic(func() { os.Stdout.WriteString("left\n"); panic("second") })
		Go(func() { panic("planted") })
		select {}
	},
	"leave hangs": func() {
		OnPanic(func() { os.Stdout.WriteString("left\n"); select {} })
		Go(func() { panic("planted") })
		select {}
	},
	"main ends meanwhile": func() {
		begun := make(chan struct{})
		OnPanic(func() { close(begun); time.Sleep(100 * time.Millisecond); os.Stdout.WriteString("left\n") })
		Go(func() { panic("planted") })
		<-begun
		Exit(0)
	},
}

// TestMain plays a scene if there is one.
func TestMain(m *testing.M) {
	if play := scenes[os.Getenv(scene)]; play != nil {
		play()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// TestPanic has what is registered done before the process ends by a panic, with its dump and status 2.
func TestPanic(t *testing.T) {
	for name := range scenes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), scene+"="+name)
			var out, errors_ bytes.Buffer
			c.Stdout, c.Stderr = &out, &errors_
			err := c.Run()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 2 {
				t.Errorf("it ended with %v, want status 2", err)
			}
			if !strings.HasSuffix(out.String(), "left\n") || strings.Contains(out.String(), "taken back") {
				t.Errorf("it printed %q", out.String())
			}
			if text := errors_.String(); !strings.Contains(text, "panic: planted") || !strings.Contains(text, "routine_test.go") {
				t.Errorf("the dump lacks the panic or its place:\n%s", text)
			}
		})
	}
}
