package rvfi

import (
	"bytes"
	"strconv"

	"tracewell/itrace"
)

// quoted is the dialect of the lines that packets are in messages.
var quoted = &itrace.Dialect{
	Name:  "rvfi-words",
	Title: "words of RVFI-DII's execution packets",
	New:   func(itrace.Settings) itrace.Decoder { return itrace.EachLine(lines{}) },
}

// lines reads each line by itself.
type lines struct{ itrace.Stateless }

// wideNames and narrowNames are those of the fields of a packet.
var (
	wideNames = [...]string{"order", "pc_rdata", "pc_wdata", "insn", "rs1_data", "rs2_data", "rd_wdata", "mem_addr", "mem_rdata",
		"mem_wdata"}
	narrowNames = [...]string{"mem_rmask", "mem_wmask", "rs1_addr", "rs2_addr", "rd_addr", "trap", "halt", "intr"}
)

// Line implements itrace.LineReader.
func (lines) Line(b *itrace.Batch, line []byte) *itrace.SyntaxError {
	var p packet
	for at := 0; at < len(line); {
		end := itrace.WordEnd(line, at)
		if !p.word(line[at:end]) {
			return itrace.Mismatch(line, at, "a word such as order=1 or insn=00000013")
		}
		for at = end; at < len(line) && line[at] <= ' '; {
			at++
		}
	}
	if !p.valid() {
		return p.problem()
	}
	words, places := p.appendWords(nil)
	(&decoder{}).addRecords(b, &p, words, &places)
	return nil
}

// word sets the field that a word is of.
func (p *packet) word(word []byte) bool {
	name, value, _ := bytes.Cut(word, []byte{'='})
	base := 16
	switch string(name) {
	case "order", "rs1_addr", "rs2_addr", "rd_addr":
		base = 10
	}
	for i, field := range p.wide() {
		if wideNames[i] == string(name) {
			n, err := strconv.ParseUint(string(value), base, 64)
			*field = n
			return err == nil
		}
	}
	for i, field := range p.narrow() {
		if narrowNames[i] == string(name) {
			n, err := strconv.ParseUint(string(value), base, 8)
			*field = uint8(n)
			return err == nil
		}
	}
	return false
}
