package frames

import (
	"context"
	"fmt"
	"net/url"
	"strconv"

	"tracewell/symbol/ctype"
	"tracewell/view"
	"tracewell/view/survey"
	"tracewell/view/wire"
	"tracewell/web/arguments"
)

// Limits of the tree of a value. What a pointer points to may lead back, and a structure may have any number of members.
const (
	deepestValue = 6
	mostChildren = 200
	mostValues   = 2000 // in a frame
	longestValue = 4000 // bytes
)

// frame answers "frame": one frame in full.
func (s *snapshot) frame(_ context.Context, args url.Values) (any, error) {
	n, err := arguments.Int(args, "frame", -1)
	if err != nil {
		return nil, err
	}
	v := s.view
	if n < 0 || n >= v.Content.NumFrames() {
		return nil, fmt.Errorf("there is no frame %d", n)
	}
	object := wire.PageFrame{Thread: int(s.index.threadOf[n]), Time: s.time(n), Changed: []string{}, Values: []wire.PageValue{},
		Variables: []wire.PageValue{}}
	object.Position, _ = s.index.position(n)
	comparison := survey.NewComparison(v)
	if earlier, ok := survey.Previous(v, n); ok {
		object.Earlier = &earlier
		before, err := v.Frame(earlier, nil)
		if err != nil {
			return nil, err
		}
		if _, _, _, err := comparison.Compare(before); err != nil {
			return nil, err
		}
	}
	object.Later = s.next(n)
	frame, err := v.Frame(n, nil)
	if err != nil {
		return nil, err
	}
	since, changes, ok, err := comparison.Compare(frame)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		object.Changed = append(object.Changed, c.Name)
	}
	whole := wire.NewJSONFrames(nil, v).Append(nil, frame)
	if whole, err = wire.AppendChanges(whole[:len(whole)-1], v, since, changes, ok); err != nil {
		return nil, err
	}
	object.Frame = append(whole, '}')
	if p := s.index.pcOf[n]; p >= 0 && s.index.pcs[p].file >= 0 {
		object.File, object.Line = &s.index.pcs[p].file, s.index.pcs[p].line
	}
	// As text, because numbers of JavaScript have 53 bits.
	for _, variable := range view.AppendVariables(nil, frame) {
		object.Variables = append(object.Variables, wire.PageValue{
			Name: "$" + v.VariableName(variable.Number), Text: strconv.FormatInt(variable.Value, 10),
		})
	}
	reader := v.NewReader()
	reader.Set(frame)
	tree := valueTree{snapshot: s, left: mostValues}
	for _, item := range reader.Items() {
		if item.InMemory() {
			object.Values = append(object.Values, tree.item(reader, item))
		}
	}
	return object, nil
}

// next is the frame of the same tracepoint behind a frame, nil if that is the last.
func (s *snapshot) next(n int) *int {
	for i := n + 1; i < s.view.Content.NumFrames(); i++ {
		if s.view.Content.Tracepoint(i) == s.view.Content.Tracepoint(n) {
			return &i
		}
	}
	return nil
}

// printer writes values as show does.
func (s *snapshot) printer(reader *view.Reader, item *view.Item) ctype.Printer {
	return ctype.Printer{
		Order: s.view.Content.Header().Order, Unfold: s.view.Shapes.Unfold, UTF8: true, Symbol: s.view.Describe,
		Language: item.Language, Memory: reader.Of(item).ReadMemory, Brief: true,
	}
}

// appendItem appends what a frame has of an item, as it stands in a line with others; false if it has nothing.
func (s *snapshot) appendItem(dst []byte, reader *view.Reader, item *view.Item) ([]byte, bool) {
	if item.Absent != "" {
		return append(dst, item.Reason()...), true
	}
	if item.Explained && !item.IsText() && !item.IsDuration() {
		if v, ok := reader.Value(item); ok {
			return s.printer(reader, item).AppendValue(dst, v), true
		}
		return dst, false
	}
	return reader.Append(dst, item, view.StyleCSV)
}

// valueTree takes values apart.
type valueTree struct {
	*snapshot
	left int // values that there is room for
}

// item is the tree of an item of a frame.
func (t *valueTree) item(reader *view.Reader, item *view.Item) wire.PageValue {
	object := wire.PageValue{Name: item.Name}
	if item.Explained && item.Type != nil {
		object.Type = item.Type.String()
	}
	text, ok := t.appendItem(nil, reader, item)
	if !ok {
		object.Text = "<not collected>"
		return object
	}
	object.Text = cut(text, longestValue)
	if v, ok := reader.Value(item); ok && item.Explained && item.Absent == "" && !item.IsText() {
		object.Children, object.More = t.children(t.printer(reader, item), v, 1)
	}
	return object
}

// children are the trees of what a value is made of.
func (t *valueTree) children(p ctype.Printer, v ctype.Value, depth int) (children []wire.PageValue, more bool) {
	for child := range p.Children(v) {
		if depth > deepestValue || len(children) == mostChildren || t.left == 0 {
			return children, true
		}
		t.left--
		object := wire.PageValue{Name: child.Name, Text: child.Missing}
		if child.Value.Type != nil {
			object.Type = child.Value.Type.String()
		}
		if child.Missing == "" {
			object.Text = cut(p.AppendWithin(nil, child.Value, depth), longestValue)
			object.Children, object.More = t.children(p, child.Value, depth+1)
		}
		children = append(children, object)
	}
	return children, false
}
