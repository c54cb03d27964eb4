package plain

import (
	"errors"
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirected is the result of the redirections of one command.
type redirected struct {
	text   string // in the plain form, with a space before each
	reads  []File
	writes []File
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

func (b *builder) redirect(out *redirected, r *syntax.Redirect) error {
	if r.Hdoc != nil || r.Word == nil {
		return errors.New("it has a here-document")
	}
	w, err := b.word(r.Word)
	if err != nil {
		return err
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
			return fmt.Errorf("it redirects the descriptor %s", fd)
		}
	}
	file := File{Text: target, Dirs: b.dirs, Opens: true}
	switch {
	case op == ">&":
		if target != "1" && target != "2" {
			return fmt.Errorf("it redirects to the descriptor %s", target)
		}
	case target == "/dev/null":
	case op == "<" && fd == "0":
		out.reads = append(out.reads, file)
	case op == "<":
		return fmt.Errorf("it redirects the descriptor %s", fd)
	default:
		out.writes = append(out.writes, file)
	}
	out.text += " " + fd + op + quote(target)
	return nil
}
