package doctor

import (
	"context"
	"errors"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
)

// plugins reports which plug-ins sessions use. Without plug-ins it reports nothing.
func (e *examination) plugins(context.Context) []Finding {
	s := e.app.Plugins()
	records, err := s.Records()
	if err != nil {
		return []Finding{failure(err.Error(), "repair or remove the file; without it no plug-in is used")}
	}
	var out []Finding
	var on []string
	for _, r := range records {
		_, err := s.Load(r.Name)
		if _, changed := errors.AsType[*bundle.ChangedError](err); changed {
			out = append(out, warning(err.Error(), "run zeph-acp plugin update "+r.Name+", or zeph-acp plugin remove "+r.Name))
			continue
		}
		if err != nil {
			out = append(out, warning(err.Error(), "run zeph-acp plugin update "+r.Name))
			continue
		}
		on = append(on, r.Name)
	}
	if len(on) > 0 {
		out = append([]Finding{passed("unchanged: " + strings.Join(on, ", "))}, out...)
	}
	return out
}
