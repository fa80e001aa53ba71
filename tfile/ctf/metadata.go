package ctf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"tracewell/arch"
)

// The names of the two files of a trace directory, by which GDB opens them. Other readers go by the first one only.
const (
	MetadataName = "metadata"
	StreamName   = "datastream"
)

// beginning is what the metadata of every trace of this version begins with, as the format asks.
const beginning = "/* CTF 1.8"

// Is reports whether a file that begins with these bytes is the metadata of a trace, as text. (The format also has metadata
// in packets, which GDB does not write.)
func Is(metadata []byte) bool { return bytes.HasPrefix(metadata, []byte(beginning)) }

// magic begins every packet.
const magic = 0xc1fc1fc1

// The numbers of the event classes. Those of eventStatic and eventRest are Tracewell's own.
const (
	eventRegister = iota
	eventTSV
	eventMemory
	eventFrame
	eventStatus
	eventTSVDef
	eventTPDef
	eventStatic
	eventRest
)

// declarations is what GDB 13.1 writes, to the byte, and what every reader takes the stream by. The verbs are the byte order
// and the length of a register block.
const declarations = beginning + ` */
typealias integer { size = 8; align = 8; signed = false; encoding = ascii;} := ascii;
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 16;signed = false; } := uint16_t;
typealias integer { size = 32; align = 32;signed = false; } := uint32_t;
typealias integer { size = 64; align = 64;signed = false; base = hex;} := uint64_t;
typealias integer { size = 32; align = 32;signed = true; } := int32_t;
typealias integer { size = 64; align = 64;signed = true; } := int64_t;
typealias string { encoding = ascii; } := chars;


trace {
	major = 1;
	minor = 8;
	byte_order = %s;
	packet.header := struct {
		uint32_t magic;
	};
};

stream {
	packet.context := struct {
		uint32_t content_size;
		uint32_t packet_size;
		uint16_t tpnum;
	};
	event.header := struct {
		uint32_t id;
	};
};


event {
	name = "memory";
	id = 2;
	fields := struct { 
		uint64_t address;
		uint16_t length;
		uint8_t contents[length];
	};
};

event {
	name = "tsv";
	id = 1;
	fields := struct { 
		uint64_t val;
		uint32_t num;
	};
};

event {
	name = "frame";
	id = 3;
	fields := struct { 
	};
};

event {
	name = "tsv_def";
	id = 5;
	fields := struct { 
		int64_t initial_value;
		int32_t number;
		int32_t builtin;
		chars name;
	};
};

event {
	name = "tp_def";
	id = 6;
	fields := struct { 
		uint64_t addr;
		uint64_t traceframe_usage;
		int32_t number;
		int32_t enabled;
		int32_t step;
		int32_t pass;
		int32_t hit_count;
		int32_t type;
		chars cond;
		uint32_t action_num;
		chars actions[action_num];
		uint32_t step_action_num;
		chars step_actions[step_action_num];
		chars at_string;
		chars cond_string;
		uint32_t cmd_num;
		chars cmd_strings[cmd_num];
	};
};

event {
	name = "register";
	id = 0;
	fields := struct { 
		ascii contents[%d];
	};
};

event {
	name = "status";
	id = 4;
	fields := struct { 
		int32_t stop_reason;
		int32_t stopping_tracepoint;
		int32_t traceframe_count;
		int32_t traceframes_created;
		int32_t buffer_free;
		int32_t buffer_size;
		int32_t disconnected_tracing;
		int32_t circular_buffer;
	};
};
`

// additions declares the events that GDB does not have.
const additions = `
event {
	name = "static";
	id = 7;
	fields := struct {
		uint16_t length;
		uint8_t contents[length];
	};
};

event {
	name = "rest";
	id = 8;
	fields := struct {
		uint32_t length;
		uint8_t contents[length];
	};
};
`

// definitionPrefix begins the names under which the definition lines of a trace file stand in the env block, with a number
// behind it that counts from 1.
const definitionPrefix = "definition_"

// describe returns the metadata of a trace: GDB's declarations, those of the events added here if the stream has any, and the
// definition lines.
func describe(order arch.ByteOrder, registerSize int, added bool, lines []string) []byte {
	name := "le"
	if order == binary.BigEndian {
		name = "be"
	}
	text := fmt.Appendf(nil, declarations, name, registerSize)
	if added {
		text = append(text, additions...)
	}
	if len(lines) == 0 {
		return text
	}
	text = append(text, "\nenv {\n"...)
	for i, line := range lines {
		text = fmt.Appendf(text, "\t%s%d = %s;\n", definitionPrefix, i+1, quote(line))
	}
	return append(text, "};\n"...)
}

// quote gives a text as a string literal: printable ASCII as it is, every other byte by its three octal digits, which every
// reader understands in the same way.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
