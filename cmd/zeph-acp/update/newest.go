package update

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"time"

	"golang.org/x/mod/semver"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
)

// releases is the address that GitHub redirects to the page of the newest release. Its other
// interface, for programs, refuses to answer after 60 requests an hour of a whole office.
const releases = newest

// checkTime limits the request.
const checkTime = 15 * time.Second

// printNewest asks a server for the newest version, and prints it beside ours.
func printNewest(ctx context.Context, out io.Writer, url string) error {
	version, err := newestVersion(ctx, url)
	if err != nil {
		return fmt.Errorf("asking for the newest version: %w: without --check no server is asked", err)
	}
	text := "This is the newest version."
	switch semver.Compare("v"+app.Version, version) {
	case -1:
		text = "Version " + version[1:] + " is out: " + releases
	case 1:
		text = "The newest release is " + version[1:] + ", which is older."
	}
	_, err = fmt.Fprintln(out, text)
	return err
}

// newestVersion returns the version in the address of the page to which url redirects, with
// a "v".
func newestVersion(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set("User-Agent", "zeph-acp") // no version: the server need not know it
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	page, err := response.Location()
	if errors.Is(err, http.ErrNoLocation) {
		return "", fmt.Errorf("%s answered %s, without the address of a release", url, response.Status)
	}
	if err != nil {
		return "", err
	}
	version := path.Base(page.Path)
	if !semver.IsValid(version) {
		return "", fmt.Errorf("%s leads to %s, which names no version", url, cli.OneLine(page.String()))
	}
	return version, nil
}
