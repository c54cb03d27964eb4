package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/executors"
)

// newTools prints the tools of the catalogue, which is asked for only when the
// command runs.
func newTools(catalogue func() []executors.Tool) *cobra.Command {
	var asJSON, asMarkdown bool
	cmd := &cobra.Command{
		Use:   "tools",
		Short: "Print the tools and what they take",
		Args:  noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch out := cmd.OutOrStdout(); {
			case asJSON && asMarkdown:
				return usage("--json and --markdown: want one of them")
			case asJSON:
				return toolsJSON(out, catalogue())
			case asMarkdown:
				return toolsMarkdown(out, catalogue())
			default:
				return toolsText(out, catalogue())
			}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array of name, description, effects, invocation and schema")
	cmd.Flags().BoolVar(&asMarkdown, "markdown", false, "print Markdown, schemas included")
	return cmd
}

// effects names what the tool can do, in the words of the source.
func effects(e executors.Effect) []string {
	names := []string{}
	for _, n := range []struct {
		effect executors.Effect
		name   string
	}{
		{executors.Reads, "reads"},
		{executors.Mutates, "mutates"},
		{executors.Network, "network"},
		{executors.Idempotent, "idempotent"},
	} {
		if e.Has(n.effect) {
			names = append(names, n.name)
		}
	}
	return names
}

func toolsText(w io.Writer, tools []executors.Tool) error {
	width := 0
	for _, t := range tools {
		width = max(width, len(t.Name))
	}
	for _, t := range tools {
		summary, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, t.Name, summary); err != nil {
			return err
		}
	}
	return nil
}

func toolsJSON(w io.Writer, tools []executors.Tool) error {
	type entry struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Effects     []string        `json:"effects"`
		Invocation  string          `json:"invocation"`
		Schema      json.RawMessage `json:"schema"`
	}
	entries := make([]entry, len(tools))
	for i, t := range tools {
		entries[i] = entry{t.Name, t.Description, effects(t.Effect), t.Invocation.String(), t.Offered()}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(entries)
}

func toolsMarkdown(w io.Writer, tools []executors.Tool) error {
	var b bytes.Buffer
	for i, t := range tools {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "## %s\n\n%s\n\nEffects: %s. Invocation: %s.\n\n```json\n", t.Name,
			strings.TrimSpace(t.Description), strings.Join(effects(t.Effect), ", "), t.Invocation)
		if err := json.Indent(&b, t.Offered(), "", "  "); err != nil {
			return fmt.Errorf("schema of %s: %w", t.Name, err)
		}
		b.WriteString("\n```\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}
