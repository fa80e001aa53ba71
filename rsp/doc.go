// Package rsp is the bottom of GDB's remote serial protocol: what every packet has in common, whatever it says.
//
// A frame on the wire is $payload#xx, with xx the sum of the payload's bytes modulo 256, or %payload#xx for a
// notification; between frames stand the single bytes + (acknowledged), - (send it again) and 0x03 (interrupt). Decoder
// cuts bytes into such tokens, AppendPacket and AppendNotification make them, and Conn says what one end must answer to
// each. Three alphabets follow one another inside a frame, and the package keeps them apart:
//
//	plain     what a packet means: text, or text followed by binary bytes
//	escaped   # $ } and * written as } and the byte xor 0x20      (AppendEscaped, Unescape)
//	runs      a repeated byte written as the byte, * and a count  (ExpandRuns; only stubs send runs, only GDB reads them)
//
// Payload in a Token is always as it came. Which packets carry binary bytes, and so need Unescape, is known only to the
// reader of that packet: a stub unescapes X and vFile:pwrite, and in a packet of plain text there is nothing to unescape.
//
// Scanner reads the fields of a packet or of a trace file's text lines, which follow the same rules. Features is the list
// that both ends exchange with qSupported.
//
// All of this takes bytes and returns values; the only part that reads and writes anything is Client, which speaks GDB's
// side over an io.ReadWriter. Nothing here panics on what a peer sends or knows the meaning of a packet, and a Decoder
// keeps no more of one than its limit. No value of this package may be used by two goroutines at a time, except that
// Client.Interrupt may be called at any time.
//
// The rules are those of the GDB manual, appendix "GDB Remote Serial Protocol", sections Overview, Notification Packets
// and Packet Acknowledgment; where GDB itself differs the code says so.
package rsp
