package testprog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"tracewell/internal/routine"
)

// aheadFolder is the variable of the environment with the folder of the programs that were compiled ahead, if they were.
const aheadFolder = "TRACEWELL_PROGRAMS"

// aheadVariants are what is compiled ahead: what tests of live programs ask for. Static programs are large, and few tests need them.
var aheadVariants = []Variant{{}, {NoPIE: true}, {Optimised: true}, {NoPIE: true, Optimised: true}, {NoPIE: true, Static: true}}

// aheadStatic are the programs that are linked statically, too.
var aheadStatic = map[string]bool{"queue": true, "spin": true, "locals": true, "threads": true}

// aheadProgram is where a program lies in a folder of such programs.
func (v Variant) aheadProgram(folder, name, text string) *Program {
	dir := filepath.Join(folder, name+"-"+v.String()+"-"+cacheKey(strings.Join(v.flags(), " "), text))
	return &Program{Path: filepath.Join(dir, name), Source: filepath.Join(dir, name+".c"), text: text}
}

// Ahead compiles the programs by a cross compiler into a folder, which will have the name seen where the tests run, with
// TRACEWELL_PROGRAMS=seen in their environment. What is there already is left as it is. Programs with code of another
// processor in them do not compile: the error names them, and has the first message of the compiler for each.
func Ahead(compiler, folder, seen string) error {
	jobs, err := aheadJobs(compiler, folder, seen)
	if err != nil {
		return err
	}
	failed := make([]error, len(jobs))
	var group routine.Group
	free := make(chan struct{}, runtime.NumCPU())
	for i, job := range jobs {
		free <- struct{}{}
		group.Go(func() {
			failed[i] = job()
			<-free
		})
	}
	group.Wait()
	return errors.Join(failed...)
}

// aheadJobs are the compilations that Ahead makes.
func aheadJobs(compiler, folder, seen string) (jobs []func() error, err error) {
	variants := map[string][]Variant{"src": aheadVariants, "src/lib": {{Library: true}, {Library: true, Optimised: true}}}
	for dir, variants := range variants {
		paths, err := fs.Glob(sources, dir+"/*.c")
		if err != nil {
			return nil, err
		}
		for _, file := range paths {
			text, err := sources.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name := strings.TrimSuffix(path.Base(file), ".c")
			for _, v := range variants {
				if v.Static && !aheadStatic[name] {
					continue
				}
				jobs = append(jobs, func() error {
					err := v.compileAhead(compiler, v.aheadProgram(folder, name, string(text)), v.aheadProgram(seen, name, string(text)))
					if err != nil {
						return fmt.Errorf("%s as %v: %w", name, v, err)
					}
					return nil
				})
			}
		}
	}
	return jobs, nil
}

// compileAhead compiles one program, whose debug information is to name the source as it will be seen.
func (v Variant) compileAhead(compiler string, program, seen *Program) error {
	if _, err := os.Stat(program.Path); err == nil {
		return nil
	}
	dir := filepath.Dir(program.Path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(program.Source, []byte(program.text), 0o644); err != nil {
		return err
	}
	draft := program.Path + ".draft"
	args := append(v.flags(), "-ffile-prefix-map="+dir+"="+filepath.Dir(seen.Path), "-o", draft, program.Source)
	if messages, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		for line := range strings.Lines(string(messages)) {
			if _, message, ok := strings.Cut(line, "rror: "); ok {
				return errors.New(strings.TrimSpace(message))
			}
		}
		return fmt.Errorf("%w\n%s", err, messages)
	}
	return os.Rename(draft, program.Path)
}
