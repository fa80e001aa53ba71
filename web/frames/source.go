package frames

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"tracewell/trace"
	"tracewell/view/wire"
	"tracewell/web/arguments"
)

// offerSources offers the source files of all addresses at which there are tracepoints or frames were made.
func (s *snapshot) offerSources() {
	if s.view.Symbols == nil {
		return
	}
	for _, t := range s.view.Content.Header().Tracepoints {
		if line, ok := s.view.Symbols.Line(t.Addr); ok {
			s.sources.Offer(line.File)
		}
	}
	for i := range s.index.pcs {
		p := &s.index.pcs[i]
		line, ok := s.view.Symbols.Line(p.addr)
		if !ok {
			continue
		}
		p.file, p.line = s.sources.Offer(line.File), line.Number
	}
	clear(s.index.inFile)
	for _, p := range s.index.pcs {
		if p.file >= 0 {
			s.index.inFile[p.file] += p.frames
		}
	}
}

// source answers "source": a source file, with how many of the frames that a filter chooses are of each of its lines.
func (s *snapshot) source(ctx context.Context, args url.Values) (any, error) {
	file, err := arguments.Int(args, "file", -1)
	if err != nil {
		return nil, err
	}
	content, err := s.sources.Read(file)
	if err != nil {
		return nil, err
	}
	numbers, err := s.chosen(ctx, args)
	if err != nil {
		return nil, err
	}
	lines := make(map[int]*wire.PageLine)
	at := func(line int) *wire.PageLine {
		if lines[line] == nil {
			lines[line] = &wire.PageLine{Line: line, Tracepoints: []trace.Number{}}
		}
		return lines[line]
	}
	s.countLines(file, numbers, at)
	if s.view.Symbols != nil {
		for _, t := range s.view.Content.Header().Tracepoints {
			line, ok := s.view.Symbols.Line(t.Addr)
			if !ok || s.sources.Offer(line.File) != file {
				continue
			}
			if l := at(line.Number); !slices.Contains(l.Tracepoints, t.Number) {
				l.Tracepoints = append(l.Tracepoints, t.Number)
			}
		}
	}
	object := wire.PageSource{SourceFile: content, Hits: []wire.PageLine{}}
	writer, err := s.newRowWriter(nil)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		if l.LastFrame != nil {
			row, err := writer.row(*l.LastFrame)
			if err != nil {
				return nil, err
			}
			l.Last = row.Collected
		}
		object.Hits = append(object.Hits, *l)
	}
	slices.SortFunc(object.Hits, func(a, b wire.PageLine) int { return cmp.Compare(a.Line, b.Line) })
	return object, nil
}

// countLines counts the frames of each line of a file.
func (s *snapshot) countLines(file int, numbers []int32, at func(int) *wire.PageLine) {
	counts, last := make([]int, len(s.index.pcs)), make([]int32, len(s.index.pcs))
	for _, i := range numbers {
		if p := s.index.pcOf[i]; p >= 0 {
			counts[p]++
			last[p] = i
		}
	}
	for p, n := range counts {
		if place := s.index.pcs[p]; place.file == file && n > 0 {
			l := at(place.line)
			l.Frames += n
			if frame := int(last[p]); l.LastFrame == nil || *l.LastFrame < frame {
				l.LastFrame = &frame
			}
		}
	}
}
