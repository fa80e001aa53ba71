package trace

import "tracewell/rsp"

// PieceKind is the letter that begins a piece.
type PieceKind byte

// The kinds of piece.
const (
	PieceDefinition  PieceKind = 'T'
	PieceActions     PieceKind = 'A'
	PieceStepActions PieceKind = 'S'
	PieceSource      PieceKind = 'Z'
	PieceCounts      PieceKind = 'V'
)

// Piece is one part of a tracepoint as replies to qTfP and qTsP carry it and as "tp" lines of a trace file do. Kind says
// which of the fields below Key are set.
type Piece struct {
	Kind       PieceKind
	Key        Key
	Definition Tracepoint  // T: without actions, source and counts
	Actions    []Action    // A, S
	Source     SourcePiece // Z
	Hits       uint64      // V
	Usage      uint64      // V
}

// ParsePiece reads one piece:
//
//	T<number>:<address>:<E|D>:<step>:<pass>[:F<length>][:S][:X<length>,<bytecode>]
//	A<number>:<address>:<action>…
//	S<number>:<address>:<action>…                        stepping actions
//	Z<number>:<address>:<type>:<start>:<total>:<text>    source
//	V<number>:<address>:<hits>:<usage>                   trace files only
//
// There is no separator after the letter, and all numbers are hexadecimal. Errors wrap *rsp.SyntaxError.
func ParsePiece(text string) (Piece, error) {
	s := newScanner("tracepoint piece", text)
	p := Piece{Kind: PieceKind(s.letter("TASZV"))}
	if rest := pieceRests[p.Kind]; rest != nil {
		rest(s, &p)
	}
	if err := s.finish(); err != nil {
		return Piece{}, err
	}
	return p, nil
}

// pieceRests reads what follows the letter of each kind of piece.
var pieceRests = map[PieceKind]func(scanner, *Piece){
	PieceDefinition: func(s scanner, p *Piece) {
		p.Definition = s.definition()
		p.Key = p.Definition.Key()
	},
	PieceActions:     pieceActions,
	PieceStepActions: pieceActions,
	PieceSource: func(s scanner, p *Piece) {
		p.Source = s.sourcePiece()
		p.Key = p.Source.Key
	},
	PieceCounts: func(s scanner, p *Piece) {
		p.Key = s.key()
		s.Literal(':')
		p.Hits = s.HexField()
		s.Literal(':')
		p.Usage = s.HexField()
	},
}

func pieceActions(s scanner, p *Piece) {
	p.Key = s.key()
	s.Literal(':')
	p.Actions = s.actions()
}

// AddPiece takes over what the piece says of t. A definition replaces the one that t has; actions and commands accumulate
// and so do counts, as GDB reads them. The piece's key is not looked at, and a T piece sets t's. The error is that of
// Source.Add.
func (t *Tracepoint) AddPiece(p Piece) error {
	switch p.Kind {
	case PieceDefinition:
		d := p.Definition
		d.Actions, d.StepActions, d.Source, d.Hits, d.Usage = t.Actions, t.StepActions, t.Source, t.Hits, t.Usage
		*t = d
	case PieceActions:
		t.Actions = append(t.Actions, p.Actions...)
	case PieceStepActions:
		t.StepActions = append(t.StepActions, p.Actions...)
	case PieceSource:
		return t.Source.Add(p.Source)
	case PieceCounts:
		t.Hits += p.Hits
		t.Usage += p.Usage
	}
	return nil
}

// Pieces returns t's definition in pieces, each as ParsePiece reads it, in the order that qTfP and qTsP answer with and
// trace files keep: T, an A for each action, an S for each stepping action, a Z for each source string. T comes first
// because GDB 13.1 dies of an internal error when a record has none.
func (t *Tracepoint) Pieces() []string {
	pieces := []string{string(t.appendDefinition([]byte{byte(PieceDefinition)}))}
	for _, a := range t.Actions {
		pieces = append(pieces, string(a.AppendText(t.Key().appendPrefix("A"))))
	}
	for _, a := range t.StepActions {
		pieces = append(pieces, string(a.AppendText(t.Key().appendPrefix("S"))))
	}
	for _, p := range t.sourcePieces() {
		pieces = append(pieces, "Z"+p.String())
	}
	return pieces
}

// CountsPiece returns the V piece with t's hits and usage, which belongs to trace files. The part behind the key is also
// what qTP is answered with, after a V.
func (t *Tracepoint) CountsPiece() string {
	dst := t.Key().appendPrefix("V")
	dst = rsp.AppendHex(dst, t.Hits)
	return string(rsp.AppendHex(append(dst, ':'), t.Usage))
}

// Upload gathers pieces into tracepoints, as they come out of a file or of a stub that already traces. The zero value is
// ready to use.
type Upload struct {
	tracepoints []Tracepoint
	defined     []bool
	index       map[Key]int
}

// Add takes over one piece; the first piece of a key creates the tracepoint. The error is that of Source.Add.
func (u *Upload) Add(p Piece) error {
	i, known := u.index[p.Key]
	if !known {
		if u.index == nil {
			u.index = make(map[Key]int)
		}
		i = len(u.tracepoints)
		u.index[p.Key] = i
		u.tracepoints = append(u.tracepoints, Tracepoint{Number: p.Key.Number, Addr: p.Key.Addr})
		u.defined = append(u.defined, false)
	}
	u.defined[i] = u.defined[i] || p.Kind == PieceDefinition
	return u.tracepoints[i].AddPiece(p)
}

// Tracepoints returns what has come together so far, in the order of the first piece of each.
func (u *Upload) Tracepoints() []Tracepoint { return u.tracepoints }

// Undefined returns the keys that pieces spoke of but no T piece defined.
func (u *Upload) Undefined() []Key {
	var keys []Key
	for i, defined := range u.defined {
		if !defined {
			keys = append(keys, u.tracepoints[i].Key())
		}
	}
	return keys
}
