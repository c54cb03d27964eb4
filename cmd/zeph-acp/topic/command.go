package topic

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/docs"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
)

// listOfPages is the word for the list of all pages.
const listOfPages = "topics"

// NewCommand returns the command help, which has the help of the commands and the pages of the documentation.
func NewCommand(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND... | PAGE | QUESTION...]",
		Short: "Print the help of a command, or what the documentation says about a question",
		Example: `  zeph-acp help sessions list
  zeph-acp help why was I asked
  zeph-acp help undo.md
  zeph-acp help ` + listOfPages + `                # the list of all pages`,
		RunE: func(cmd *cobra.Command, args []string) error {
			// Unlike cobra's own help, it rejects an unknown command below another.
			wanted, rest, _ := cmd.Root().Find(args) // its error has fewer hints
			library, err := Read(docs.Pages)
			switch {
			case err != nil:
				return err
			case wanted == cmd.Root() && len(rest) > 0:
				return answer(cmd, f, library, rest)
			case len(rest) > 0 && wanted.HasAvailableSubCommands():
				return cli.NoCommand(wanted, rest)
			}
			if err := wanted.Help(); err != nil {
				return err
			}
			if page := wanted.Name() + ".md"; library.Named(page) != nil {
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "\nMore: zeph-acp help %s\n", page)
			}
			return err
		},
	}
}

// answer prints a page by its name, or the section that fits a question best and the names of others.
func answer(cmd *cobra.Command, f *cli.Flags, library *Library, words []string) error {
	question := strings.Join(words, " ")
	switch page, _, _ := strings.Cut(question, "#"); {
	case question == listOfPages:
		text, err := docs.Pages.ReadFile("README.md")
		if err == nil {
			err = show(cmd, f, string(text))
		}
		return err
	case strings.HasSuffix(page, ".md"):
		sections := library.Named(strings.TrimPrefix(question, "docs/"))
		if sections == nil {
			return cli.Usagef("there is no page %s: \"zeph-acp help %s\" lists the pages", question, listOfPages)
		}
		return show(cmd, f, markdown(sections))
	}
	hits := library.Find(question, 3)
	if len(strings.Fields(question)) == 1 && (len(hits) == 0 || rank.Share(rank.Words(question), hits[0].Title+" "+hits[0].Heading+" "+hits[0].asked) < 1) {
		return cli.NoCommand(cmd.Root(), words) // a mistyped command
	}
	if len(hits) == 0 {
		return cli.Usagef("no page has these words: \"zeph-acp help %s\" lists the pages", listOfPages)
	}
	best := hits[0]
	text := markdown(library.Named(best.Name()))
	if best.Level == 1 {
		text = markdown([]Section{best})
	}
	var b strings.Builder
	b.WriteString(text + "\n---\n\n")
	if best.Level == 1 {
		fmt.Fprintf(&b, "- `zeph-acp help %s`: the whole page\n", best.Page)
	}
	for _, s := range hits[1:] {
		name := s.Title
		if s.Level > 1 {
			name += ": " + s.Heading
		}
		fmt.Fprintf(&b, "- `zeph-acp help %s`: %s\n", s.Name(), strings.ReplaceAll(name, "`", ""))
	}
	return show(cmd, f, b.String())
}

// markdown returns sections with their headings. Links to pages are as "zeph-acp help" accepts them.
func markdown(sections []Section) string {
	var b strings.Builder
	for i, s := range sections {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "%s %s\n%s", strings.Repeat("#", s.Level), s.Heading, absolute(s.Page, strings.TrimRight(s.Text, "\n")+"\n"))
	}
	return b.String()
}

// absolute rewrites the links of a page to other pages, which are relative to its directory or begin with "#".
func absolute(page, text string) string {
	parts := strings.Split(text, "](")
	for i, part := range parts[1:] {
		target, rest, ok := strings.Cut(part, ")")
		file, anchor, _ := strings.Cut(target, "#")
		switch {
		case !ok || strings.Contains(target, "://"):
			continue
		case file == "":
			file = page
		default:
			file = path.Join(path.Dir(page), file)
		}
		if anchor != "" {
			anchor = "#" + anchor
		}
		parts[i+1] = file + anchor + ")" + rest
	}
	return strings.Join(parts, "](")
}

// show prints Markdown: laid out for a terminal, as it is elsewhere.
func show(cmd *cobra.Command, f *cli.Flags, text string) error {
	var shown bytes.Buffer
	cli.Screen(&shown, os.Stdout, f.Getenv).Markdown(text)
	_, err := shown.WriteTo(cmd.OutOrStdout())
	return err
}
