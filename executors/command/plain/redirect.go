package plain

import (
	"errors"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirected is the result of the redirections of one command.
type redirected struct {
	text    string // in the plain form, with a space before each
	reads   []File
	writes  []File
	hasText bool // the script spells out the input
}

// redirects prints redirections. Each has an explicit descriptor, so that no
// number before it is mistaken for one.
func (b *builder) redirects(list []*syntax.Redirect) (redirected, error) {
	var out redirected
	for _, r := range list {
		if err := b.redirect(&out, r); err != nil {
			return redirected{}, err
		}
	}
	return out, nil
}

// inputText returns the text of a here-document or a here-string, without the newline at its
// end. ok is false for any other redirection.
func (b *builder) inputText(r *syntax.Redirect) (text string, ok bool, err error) {
	switch {
	case r.Op == syntax.WordHdoc && r.Word != nil:
		w, err := b.assignedValue(r.Word)
		if err == nil && !w.literal() {
			err = errors.New("the text of a here-string is computed")
		}
		return w.text(), true, err
	case r.Op != syntax.Hdoc && r.Word != nil && r.Hdoc == nil:
		return "", false, nil
	case r.Op != syntax.Hdoc || r.Hdoc == nil:
		return "", true, errors.New("it has a here-document that is not plain")
	}
	for _, part := range r.Hdoc.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok || strings.ContainsAny(lit.Value, "\\$`") && r.Word.Lit() != "" {
			return "", true, errors.New("the text of a here-document is computed")
		}
		text += lit.Value
	}
	text, ended := strings.CutSuffix(text, "\n")
	if !ended {
		return "", true, errors.New("it has a here-document that is not plain")
	}
	return text, true, nil
}

// redirect adds the plain form of one redirection to out.
func (b *builder) redirect(out *redirected, r *syntax.Redirect) error {
	if text, ok, err := b.inputText(r); err != nil || ok {
		if r.N != nil && r.N.Value != "0" {
			return errorf("it redirects the descriptor %s", r.N.Value)
		}
		out.text, out.hasText = out.text+" 0<<<"+quote(text), true
		return err
	}
	w, err := b.word(r.Word)
	if err != nil {
		return err
	}
	if r.Op == syntax.RdrIn && (r.N == nil || r.N.Value == "0") && w.varies && !slices.Contains(w.Values, "") {
		for _, v := range w.Values {
			out.reads = append(out.reads, File{Text: v, Dirs: b.dirs, Glob: w.Glob, Opens: true})
		}
		out.text += " 0<" + w.source
		return nil
	}
	if r.Op == syntax.RdrIn && (r.N == nil || r.N.Value == "0") && w.pipe {
		out.text += " 0< " + w.source
		return nil
	}
	if !w.literal() || w.text() == "" {
		return errors.New("the file of a redirection is computed")
	}
	fd, target := "1", w.text()
	op := map[syntax.RedirOperator]string{
		syntax.RdrOut: ">", syntax.AppOut: ">>", syntax.RdrIn: "<", syntax.DplOut: ">&", syntax.RdrAll: "&>", syntax.AppAll: "&>>",
	}[r.Op]
	switch {
	case op == "":
		return errors.New("it has a redirection that is not plain")
	case op == "<":
		fd = "0"
	case strings.HasPrefix(op, "&"):
		fd = ""
	}
	if r.N != nil {
		if fd = r.N.Value; len(fd) != 1 || fd < "0" || fd > "2" || strings.HasPrefix(op, "&") {
			return errorf("it redirects the descriptor %s", fd)
		}
	}
	file := File{Text: target, Dirs: b.dirs, Opens: true}
	switch {
	case op == ">&":
		if target != "1" && target != "2" {
			return errorf("it redirects to the descriptor %s", target)
		}
	case target == "/dev/null":
	case op == "<" && fd == "0":
		out.reads = append(out.reads, file)
	case op == "<":
		return errorf("it redirects the descriptor %s", fd)
	default:
		out.writes = append(out.writes, file)
	}
	if op == "&>>" { // which bash 3 lacks
		out.text += " 1>>" + quote(target) + " 2>&1"
		return nil
	}
	out.text += " " + fd + op + quote(target)
	return nil
}
