package rsp

import (
	"bytes"
	"fmt"
	"slices"
)

// TokenKind says what a Token is. The zero TokenKind is none of them.
type TokenKind uint8

// The kinds of token.
const (
	Packet       TokenKind = iota + 1 // $payload#xx with the right checksum
	Notification                      // %payload#xx with the right checksum
	Ack                               // +
	Nak                               // -
	Interrupt                         // 0x03 between frames
	BadChecksum                       // a packet whose checksum is wrong or no number
	Oversized                         // a packet with the right checksum and a payload over the limit, which was dropped
)

var kindNames = [...]string{"none", "packet", "notification", "ack", "nak", "interrupt", "bad checksum", "oversized"}

// String names the kind in lower-case English.
func (k TokenKind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("TokenKind(%d)", uint8(k))
}

// Token is one thing that the peer said.
type Token struct {
	Kind TokenKind
	// Payload is what stood between the first byte and the #, still escaped. Packet, Notification and BadChecksum have
	// it. It lies in the bytes lent to Feed or in the decoder, and is valid until the next call of Feed or Next.
	Payload []byte
}

// String shows the token for logs and tests: its kind, and the payload quoted if it has one.
func (t Token) String() string {
	switch t.Kind {
	case Packet, Notification, BadChecksum:
		return fmt.Sprintf("%v %q", t.Kind, t.Payload)
	}
	return t.Kind.String()
}

// standalone gives the token that a byte between frames is or begins. All other bytes there are noise on the line and
// skipped, as GDB and gdbserver do.
var standalone = [256]TokenKind{'$': Packet, '%': Notification, '+': Ack, '-': Nak, 0x03: Interrupt}

// Decoder cuts a stream of bytes, fed in pieces of any size, into tokens.
//
// The body of a frame is everything up to the next #, with one exception: a $ in it means that the peer gave up on the
// frame and began a new one, so the body starts anew. (Inside a frame an honest $ is always escaped.) 0x03, + and - in a
// body are ordinary bytes. A check digit that is none is left where it stands, since it may begin the next frame.
//
// A body that lies in one piece is never copied: it stays in the bytes lent to Feed. The invariant is that body is empty,
// or lies in the lent bytes (borrowed), or is held; when the lent bytes run out a borrowed body is moved to held. held
// never grows over the limit.
//
// Notifications are not acknowledged, so there is nothing to do about a damaged or oversized one; it is skipped.
type Decoder struct {
	limit int
	in    []byte // lent by Feed and not yet read
	next  place

	kind     TokenKind // Packet or Notification
	body     []byte    // the body so far
	borrowed bool      // body lies in the lent bytes
	held     []byte    // memory for bodies that lie in several pieces
	over     bool      // the body passed the limit and is being dropped
	sum      byte      // of the body so far, dropped or not
	digit    byte      // first check digit
}

// place is what the decoder expects to read next.
type place uint8

const (
	betweenFrames place = iota
	inBody
	firstDigit
	secondDigit
)

// NewDecoder returns a decoder that drops packets with more than limit bytes between $ and #. A stub that announces
// PacketSize takes that as the limit.
func NewDecoder(limit int) *Decoder { return &Decoder{limit: limit} }

// Feed lends p to the decoder, which reads it in the following calls of Next. The bytes must not change until Next has
// returned false. Feeding more before that is allowed, but copies.
func (d *Decoder) Feed(p []byte) {
	if len(d.in) > 0 {
		p = slices.Concat(d.in, p)
	}
	d.in = p
}

// Next returns the next token of what was fed, or false when more bytes are needed for one.
func (d *Decoder) Next() (Token, bool) {
	for len(d.in) > 0 {
		if t := d.read(); t.Kind != 0 {
			return t, true
		}
	}
	d.hold()
	return Token{}, false
}

// read reads at least one of the lent bytes, or moves the decoder to the place where that byte is read next. It returns
// the token that thereby ended, if one did.
func (d *Decoder) read() Token {
	switch d.next {
	case inBody:
		d.readBody()
		return Token{}
	case firstDigit, secondDigit:
		return d.readDigit()
	}
	return d.readBetween()
}

func (d *Decoder) readBetween() Token {
	for i, c := range d.in {
		kind := standalone[c]
		switch kind {
		case 0:
			continue
		case Packet, Notification:
			d.in = d.in[i+1:]
			d.begin(kind)
			return Token{}
		}
		d.in = d.in[i+1:]
		return Token{Kind: kind}
	}
	d.in = nil
	return Token{}
}

// begin starts a body, forgetting the one that may have been under way.
func (d *Decoder) begin(kind TokenKind) {
	d.next, d.kind, d.sum, d.over = inBody, kind, 0, false
	d.body, d.borrowed = nil, false
}

func (d *Decoder) readBody() {
	part, rest, ended := bytes.Cut(d.in, []byte{'#'})
	d.in = rest
	if bytes.IndexByte(part, '$') >= 0 { // rare: only then look for the last one, which is slower to find
		d.begin(Packet)
		part = part[bytes.LastIndexByte(part, '$')+1:]
	}
	d.sum += checksum(part)
	d.add(part)
	if ended {
		d.next = firstDigit
	}
}

// add appends part of the lent bytes to the body. A borrowed body is never added to, because one piece of input holds
// the body either up to its end or up to the piece's own.
func (d *Decoder) add(part []byte) {
	switch {
	case d.over || len(d.body)+len(part) > d.limit:
		d.over = true
		d.body, d.borrowed = nil, false
	case len(d.body) == 0:
		d.body, d.borrowed = part[:len(part):len(part)], true
	default:
		d.held = append(d.body, part...)
		d.body = d.held
	}
}

// hold keeps the body of an unfinished frame beyond the lent bytes.
func (d *Decoder) hold() {
	if d.borrowed {
		d.held = append(d.held[:0], d.body...)
		d.body, d.borrowed = d.held, false
	}
}

func (d *Decoder) readDigit() Token {
	v := nibbles[d.in[0]]
	if v == notHex {
		return d.end(false)
	}
	d.in = d.in[1:]
	if d.next == firstDigit {
		d.digit, d.next = v, secondDigit
		return Token{}
	}
	return d.end(d.digit<<4|v == d.sum)
}

// end leaves the frame and returns the token it makes, if any.
func (d *Decoder) end(intact bool) Token {
	t := Token{d.kind, d.body}
	d.next, d.body, d.borrowed = betweenFrames, nil, false
	switch {
	case intact && !d.over:
		return t
	case t.Kind == Notification:
		return Token{}
	case intact:
		return Token{Kind: Oversized}
	}
	return Token{BadChecksum, t.Payload}
}
