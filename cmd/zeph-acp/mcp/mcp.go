// Package mcp is the command "zeph-acp mcp", which lists, changes, tests and imports the
// configured MCP servers and logs in to them.
package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/helper"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/tools"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// NewCommand returns the command mcp.
func NewCommand(f *cli.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "List, change and test the MCP servers of the configuration",
		Args:  cli.NoCommand,
		RunE:  cli.NeedsCommand,
	}
	cmd.AddCommand(
		newList(f),
		newAdd(f),
		newRemove(f),
		newTest(f),
		newTools(f),
		newLogin(f),
		newLogout(f),
		newImport(f),
	)
	return cmd
}

func newList(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the servers, without starting them",
		Example: "  zeph-acp mcp list",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := f.Load(cmd)
			if err != nil {
				return err
			}
			if len(l.Config.MCP.Servers) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), `No MCP server is configured: "zeph-acp mcp add --help" shows how to add one.`)
			}
			var rows [][]string
			for _, s := range l.Config.MCP.Servers {
				row := []string{s.Name, s.Target()}
				if !s.Enabled {
					row = append(row, "disabled")
				}
				rows = append(rows, row)
			}
			return cli.WriteRows(cmd.OutOrStdout(), rows, cli.ScreenWidth())
		},
	}
}

func newAdd(f *cli.Flags) *cobra.Command {
	s, env, headers := mcp.NewServer(), []string{}, []string{}
	cmd := &cobra.Command{
		Use:   "add NAME -- COMMAND [ARGUMENT...] | add NAME --url URL",
		Short: "Add a server to the configuration file",
		Example: `  zeph-acp mcp add everything -- npx -y @modelcontextprotocol/server-everything
  zeph-acp mcp add --env LOG_LEVEL=warn --env-from TICKETS_TOKEN tickets -- tickets-server
  zeph-acp mcp add docs --url https://example.com/mcp`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && strings.Contains(args[1], "://") { // no program has such a name
				return cli.Usagef("%s is an address: write --url before it", cli.OneLine(args[1]))
			}
			if len(args) == 0 || (s.URL == "") == (len(args) == 1) {
				return cli.Usagef("want a name and either a command after -- or --url: try %q", cmd.CommandPath()+" --help")
			}
			if s.URL == "" && (s.OAuthClientID != "" || s.OAuthSecretFrom != "" || s.OAuthPort != 0) {
				return cli.Usagef("a program has no login: --oauth-client-id, --oauth-secret-from and --oauth-port need --url")
			}
			s.Name = args[0]
			if len(args) > 1 {
				s.Command, s.Args = args[1], args[2:]
			}
			var err error
			if s.Env, err = pairs(env, "=", "--env"); err != nil {
				return err
			}
			if s.Headers, err = pairs(headers, ":", "--header"); err != nil {
				return err
			}
			if err := wrongServer(s); err != nil {
				return err
			}
			file, err := config.AddServer(f.FileOptions(), s)
			if err != nil {
				return err
			}
			if _, err = fmt.Fprintf(cmd.OutOrStdout(), "Added %s to %s.\n", s.Name, file); err == nil {
				_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%q tries it.\n", "zeph-acp mcp test "+s.Name)
			}
			return err
		},
	}
	cmd.SetFlagErrorFunc(cli.FlagErrorBeforeCommand)
	cmd.Flags().StringVar(&s.URL, "url", "", "connect to the `URL` of a server on the web")
	cmd.Flags().StringVar(&s.Transport, "transport", "", "connect by `TRANSPORT`: http or sse; default: http, and sse where the server has no http")
	cmd.Flags().StringArrayVar(&env, "env", nil, "set the variable `NAME=VALUE` for the program; may be repeated")
	cmd.Flags().StringArrayVar(&s.EnvFrom, "env-from", nil, "pass the variable `NAME` of the environment to the program; may be repeated")
	cmd.Flags().StringArrayVar(&headers, "header", nil, "send the header `NAME:VALUE` to the URL; may be repeated")
	cmd.Flags().StringVar(&s.OAuthClientID, "oauth-client-id", "", "log in as the client `ID`, which is registered there, or the https URL of its metadata")
	cmd.Flags().StringVar(&s.OAuthSecretFrom, "oauth-secret-from", "", "read the secret of that client from the variable `NAME`")
	cmd.Flags().IntVar(&s.OAuthPort, "oauth-port", 0, "let the browser return to `PORT` after a login; default: any")
	return cmd
}

// wrongServer returns the error about a value of the command line that no entry may have.
func wrongServer(s mcp.Server) error {
	wrong := setting.Check(s)
	for _, value := range []struct{ key, name string }{
		{"name", "NAME"}, {"url", "--url"}, {"transport", "--transport"}, {"env", "--env"}, {"headers", "--header"},
		{"oauth_port", "--oauth-port"},
	} {
		if text := wrong[value.key]; text != "" {
			return cli.Usagef("%s: %s", value.name, text)
		}
	}
	return nil
}

// pairs splits texts of a flag into names and values.
func pairs(texts []string, separator, flag string) (map[string]string, error) {
	out := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, separator)
		if !ok || strings.TrimSpace(name) == "" {
			return nil, cli.Usagef("%s %q: want NAME%sVALUE", flag, text, separator)
		}
		out[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return out, nil
}

func newRemove(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a server from the configuration file",
		Example: "  zeph-acp mcp remove github",
		Args:    cli.NeedsOne("the name of a server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			file, err := config.RemoveServer(f.FileOptions(), args[0])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "Removed %s from %s.\n", args[0], file)
			return err
		},
	}
}

// withServer starts a server of the configuration, waits until it is ready, and calls do with its
// session. An error says why the server is not ready.
func withServer(cmd *cobra.Command, f *cli.Flags, name string, do func(*mcp.Session, mcp.Status) error) error {
	l, err := f.Load(cmd)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(l.Config.MCP.Servers, func(s mcp.Server) bool { return s.Name == name })
	if i < 0 {
		return unknownServer(name)
	}
	server := l.Config.MCP.Servers[i]
	if why := l.PermitsConfigured(server); why != "" {
		return fmt.Errorf("%s does not run: %s", name, why)
	}
	server.Enabled = true
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	return cli.UseApp(l, func(a *app.App) error {
		a.Reaper = helper.NewReaper()
		s := a.MCP.Session(mcp.Options{Dir: dir, Servers: []mcp.Server{server}, Wait: testWait})
		ctx, stop := cli.StopOnSignal(context.Background(), a.MCP.Close)
		patience := time.AfterFunc(slowStart, func() {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is still starting; Ctrl-C ends the wait.\n", name)
		})
		s.Ready(ctx)
		patience.Stop()
		interrupted := cli.SignalExit(ctx)
		stop()
		if interrupted != nil {
			return interrupted
		}
		st := s.Status()[0]
		if st.State != mcp.Ready {
			return fmt.Errorf("%s does not run: %s", name, cmp.Or(st.Error, string(st.State)))
		}
		return do(s, st)
	})
}

// unknownServer returns the error about a name that no server of the configuration has.
func unknownServer(name string) error {
	return fmt.Errorf("there is no MCP server %q: %q lists them", name, "zeph-acp mcp list")
}

// slowStart is the time after which a person wonders whether anything happens.
const slowStart = 5 * time.Second

// testWait is longer than a server may take to start, so that its failure is known.
const testWait = 2*time.Minute + 10*time.Second

func newTest(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "test NAME",
		Short:   "Start a server, list its tools, and show how long each step takes",
		Example: "  zeph-acp mcp test github   # exits with 1 if it does not start",
		Args:    cli.NeedsOne("the name of a server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withServer(cmd, f, args[0], func(_ *mcp.Session, st mcp.Status) error {
				out := cmd.OutOrStdout()
				fmt.Fprintf(out, "connected in %s, protocol %s\n", st.Connect.Round(time.Millisecond), st.Revision)
				fmt.Fprintf(out, "listed %s in %s\n", quantity.Count(len(st.Tools), "tool"), st.List.Round(time.Millisecond))
				for _, name := range slices.Sorted(maps.Keys(st.LeftOut)) {
					fmt.Fprintf(out, "left out %s: %s\n", name, st.LeftOut[name])
				}
				return nil
			})
		},
	}
}

func newTools(f *cli.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:     "tools NAME",
		Short:   "Start a server and print its tools with their parameters",
		Example: "  zeph-acp mcp tools github",
		Args:    cli.NeedsOne("the name of a server"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withServer(cmd, f, args[0], func(s *mcp.Session, _ mcp.Status) error {
				if asJSON {
					return tools.WriteJSON(cmd.OutOrStdout(), s.Tools())
				}
				return tools.WriteText(cmd.OutOrStdout(), s.Tools())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}
