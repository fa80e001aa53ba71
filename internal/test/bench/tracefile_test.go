package bench

import (
	"testing"
	"time"
)

// tasks are what is done to trace files. What takes long is measured in every third round only.
var tasks = []*task{
	{name: "index", bytes: true, goal: goal{bytesPerSecond: 1e9}, ways: []fileWay{
		{floorWay, 1, readWhole},
		{ourWay, 1, index},
	}},
	{name: "show the last frame", goal: goal{time: 500 * time.Millisecond}, ways: []fileWay{
		{ourWay, 1, show},
		{gdbWay, 3, showInGDB},
	}},
	{name: "find the last frame by tracepoint", small: true, goal: goal{time: 20 * time.Millisecond}, ways: []fileWay{
		{ourWay, 1, find},
		{gdbWay, 3, findInGDB},
	}},
	{name: "make and write", small: true, bytes: true, ways: []fileWay{{ourWay, 1, writeFrames}}},
	{name: "to text", small: true, bytes: true, ways: []fileWay{{ourWay, 3, ofTenth(writeText)}}},
	{name: "from text", small: true, bytes: true, ways: []fileWay{{ourWay, 3, ofTenth(readText)}}},
	{name: "to CTF", small: true, bytes: true, ways: []fileWay{{ourWay, 3, ofTenth(writeCTF)}}},
	{name: "from CTF", small: true, bytes: true, ways: []fileWay{{ourWay, 3, ofTenth(readCTF)}}},
}

// BenchmarkFile measures everything in turns, as BenchmarkHit does.
func BenchmarkFile(b *testing.B) {
	dir := b.TempDir()
	var measured fileTable
	for i, r := range recordings() {
		r.save(b, dir)
		if i == 0 {
			r.convert(b)
		}
		for _, t := range tasks {
			if t.small && i > 0 {
				continue
			}
			for _, w := range t.ways {
				measured = append(measured, &fileRow{recording: r, task: t, way: w})
			}
		}
	}
	for b.Loop() {
		for round := range *rounds {
			for _, row := range measured {
				if round%row.way.every == 0 {
					row.samples = append(row.samples, row.way.measure(b, row.recording).Seconds())
				}
			}
		}
	}
	reports = append(reports, measured)
	b.ReportMetric(0, "ns/op") // of the whole run, which says nothing
}
