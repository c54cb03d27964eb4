package mcp

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// loginTime is how long the user may take to log in.
const loginTime = 10 * time.Minute

func newLogin(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "login NAME|URL",
		Short:   "Log in to a server on the web",
		Example: "  zeph-acp mcp login sentry",
		Long: `Log in to a server of the configuration, or to the address of a server that your editor
uses. The command prints the address of a page; open it in a browser on this machine.`,
		Args: cli.NeedsOne("the name of a server, or its address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, e, err := webServer(cmd, f, args[0])
			if err != nil {
				return err
			}
			return cli.UseApp(l, func(a *app.App) error {
				a.MCP.Open = func(_ context.Context, _, url string) error { return showPage(cmd.OutOrStdout(), url) }
				ctx, stop := cli.StopOnSignal(context.Background(), a.MCP.Close)
				defer stop()
				ctx, cancel := context.WithTimeoutCause(ctx, loginTime, fmt.Errorf("there was no login within %s", loginTime))
				defer cancel()
				if err := a.MCP.Login(ctx, e); err != nil {
					if interrupted := cli.SignalExit(ctx); interrupted != nil {
						return interrupted
					}
					return fmt.Errorf("%s: %s", cli.OneLine(args[0]), executors.Shown(err.Error()))
				}
				_, err := fmt.Fprintf(cmd.OutOrStdout(), "Logged in to %s.\n", args[0])
				return err
			})
		},
	}
}

func showPage(w io.Writer, url string) error {
	_, err := fmt.Fprintf(w, "Open this page in a browser on this machine:\n\n%s\n\n", url)
	return err
}

func newLogout(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "logout NAME|URL",
		Short:   "Remove the login at a server on the web",
		Example: "  zeph-acp mcp logout sentry",
		Args:    cli.NeedsOne("the name of a server, or its address"),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, e, err := webServer(cmd, f, args[0])
			if err != nil {
				return err
			}
			removed, err := oauth.Logout(l.Logins(), e.URL)
			if err != nil {
				return fmt.Errorf("the saved login: %w", err)
			}
			text := "There is no login at %s.\n"
			if removed {
				text = "Removed the login at %s.\n"
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), text, args[0])
			return err
		},
	}
}

// webServer returns the configuration, and its entry of a server on the web by its name or
// its address. An address need not be configured.
func webServer(cmd *cobra.Command, f *cli.Flags, name string) (*config.Loaded, mcp.Server, error) {
	l, err := f.Load(cmd)
	if err != nil {
		return nil, mcp.Server{}, err
	}
	for _, e := range l.Config.MCP.Servers {
		switch {
		case e.Name != name && e.URL != name:
		case e.URL == "":
			return nil, e, fmt.Errorf("%s is a program, which has no login", name)
		default:
			return l, e, nil
		}
	}
	e := mcp.NewServer()
	e.Name, e.URL = "server", name
	if !strings.Contains(name, "://") || len(setting.Check(e)) > 0 {
		return nil, e, unknownServer(name)
	}
	return l, e, nil
}
