// Package tracetext writes a trace file as text that people read and compare, and makes the same bytes of the text again.
//
// # The promise
//
// Every file that begins with the magic line of a trace file, whatever follows it, has a text, and Read makes exactly the
// file of it. What is written as GDB writes it stands decoded; what is written otherwise stands as a string or as hexadecimal
// bytes. Definitions are decoded only where the statements have been seen to make the same line again. The text that Write
// makes is canonical: one file in one byte order has one text. Read takes more than that, so that people can write and change
// texts: what can be computed is not asked for, such as lengths, and what is zero may be left out.
//
// Both ways are streams. Of the frames one at a time is in memory; the definitions are, as they are when tfile opens a file.
//
// # The text
//
// A line is one statement, of words with blanks between them; blanks ahead of the first one do not count. # ahead of a word
// begins a comment. A literal is a string of Go in double quotes. Numbers are decimal or, behind 0x, hexadecimal.
// Bytes are pairs of hexadecimal digits, with blanks between them as one likes, and literals.
//
//	text        file…
//	file        tracewell trace text 1                  one file behind the other: as in the trace file
//	            definition…
//	            [frames [register-size N]               ends the definitions; N if they say another size
//	            frame…
//	            [end [N bytes]]]                        end marker, of 4 bytes if nothing is said
//	            [rest]                                  all that could not be read, and what is behind the end marker
//
//	definition  byte-order little|big                   no definition line: it is for the frames
//	            line LITERAL                            any definition line, without its LF
//	            register-size N|tdesc                   R; tdesc: as the description says, the line then comes last
//	            tdesc                                   no definition line: it heads the lines below
//	            | XML                                   tdesc
//	            status running|stopped                  status; its items on the lines below
//	              KEY VALUE | item LITERAL              KEY as in the file, counts decimal, texts as literals
//	              starttime|stoptime TIME               2024-05-01T12:00:00Z or 5326.308475 s
//	              tstop|… [LITERAL] N                   why the run stopped: a description, a tracepoint
//	            variable N NAME = VALUE [builtin]       tsv; NAME is $name or a LITERAL
//	            tracepoint N at ADDR enabled|disabled [step N] [pass N] [fast N] [static]
//	                                                    tp T; the pieces below are of this tracepoint
//	              [condition CODE]
//	            of tracepoint N at ADDR                 no definition line: the pieces below are of another tracepoint
//	            [while-stepping] collect ACTION         tp A, tp S
//	              also ACTION…                          in the same line
//	            at|cond|command LITERAL                 tp Z
//	            hits N usage N                          tp V
//	ACTION      registers BYTES                         the mask, most significant byte first
//	            memory N bytes at ADDR [from register N]
//	            expression CODE
//	            static | nothing
//	CODE        BYTES, or on the lines below its instructions as package ax writes them, each behind a number or a label
//
//	frame       frame of tracepoint N
//	              block…
//	block       registers                               R; all that is not told below is zero
//	              NAME 0xNUMBER | NAME BYTES            a register of the target description; bytes as they are in the block
//	              +OFFSET BYTES                         bytes of the block that no name stands for
//	            memory ADDR [BYTES]                     M
//	              ADDR BYTES…                           where the bytes above end
//	            variable $NAME|N = VALUE                V
//	            static [[+0] BYTES]                     S
//	              +OFFSET BYTES…                        where the bytes above end
//	            raw [[+0] BYTES]                        bytes of the frame that are no block
//	              +OFFSET BYTES…
//	rest        rest [[+0] BYTES]
//	              +OFFSET BYTES…
//
// A register that the description gives a name that is no word, a name that another has, or a word that begins a line, goes
// without it; so do all if there is no description that tdesc can read. Neither the number of a frame nor its offset is
// in the text, because one more frame would then change the lines of all others.
package tracetext
