package diagnostics

import "github.com/zeph-acp/zeph-acp/executors"

// Config bounds one call of diagnostics. It is the table [tools.diagnostics].
type Config struct {
	Timeout int `toml:"timeout" default:"120" range:"0.." zero:"no limit" tighten:"limit" unit:"seconds" doc:"for all programs of one call together"`
	// MaxDiagnostics is bounded since a frame contains them twice, and a model cannot use more.
	MaxDiagnostics int `toml:"max_diagnostics" default:"50" range:"1..500" tighten:"lower" unit:"diagnostics" doc:"per call"`
	executors.OutputLimit
}
