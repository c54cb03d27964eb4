package trace

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Product names the program in every span.
type Product struct{ Name, Version string }

// defaultTimeout limits a request to the collector.
const defaultTimeout = 10 * time.Second

// SecretVariables are the variables that hold the collector's credentials. No command may
// see them.
var SecretVariables = []string{"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"}

// New returns a tracer that is configured by the variables of OpenTelemetry, or nil if
// OTEL_EXPORTER_OTLP_ENDPOINT is empty. A mistake in a variable is a warning. Without a
// usable endpoint it returns nil.
//
// https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
func New(getenv func(string) string, product Product, log *slog.Logger) (t *Tracer, warnings []string) {
	base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	if base == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	to, err := endpoint(base, getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"))
	if err != nil {
		return nil, []string{"No traces are sent: " + err.Error() + "."}
	}
	if p := exporterSetting(getenv, "PROTOCOL"); p == "grpc" {
		return nil, []string{"No traces are sent: OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and zeph-acp sends only HTTP. Set it to http/json, with the collector's port for HTTP (mostly 4318)."}
	}
	sample, err := samplerOf(getenv)
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	headers, err := headersOf(exporterSetting(getenv, "HEADERS"))
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	timeout := defaultTimeout
	if text := exporterSetting(getenv, "TIMEOUT"); text != "" {
		if ms, err := strconv.Atoi(text); err == nil && ms > 0 {
			timeout = time.Duration(ms) * time.Millisecond
		} else {
			warnings = append(warnings, fmt.Sprintf("OTEL_EXPORTER_OTLP_TIMEOUT is %q, and should be a number of milliseconds: 10000 is used.", text))
		}
	}
	// A redirect would send the headers, which may hold credentials, to another address.
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return &Tracer{
		sampler: sample, now: time.Now, random: func(b []byte) { _, _ = rand.Read(b) }, // which never fails
		export: newExporter(&exporter{
			url: to, headers: headers, timeout: timeout, client: client, log: log,
			product: product, resource: resourceOf(getenv, product), interval: flushInterval,
		}),
	}, warnings
}

// exporterSetting returns a setting of the exporter. The variable for traces takes precedence over the
// one for all signals.
func exporterSetting(getenv func(string) string, name string) string {
	return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
}

// endpoint returns the URL for traces. base, the endpoint of all signals, lacks the path
// for traces; endpoint appends it.
func endpoint(base, traces string) (string, error) {
	name, text := "OTEL_EXPORTER_OTLP_ENDPOINT", base
	if traces != "" {
		name, text = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", traces
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", fmt.Errorf("%s is not an http or https URL, such as http://localhost:4318", name) // it may hold a password
	}
	if traces == "" {
		u = u.JoinPath("v1", "traces")
	}
	return u.String(), nil
}

// samplerOf returns the sampler that the environment names. With an error the sampler is
// valid too: it samples all traces.
func samplerOf(getenv func(string) string) (sampler, error) {
	name := cmp.Or(getenv("OTEL_TRACES_SAMPLER"), "parentbased_always_on")
	s, ok := samplerNamed(name)
	if !ok {
		return sampler{followParent: true, ratio: 1}, fmt.Errorf("OTEL_TRACES_SAMPLER %q is unknown: all traces are sent", name)
	}
	if s.ratio >= 0 {
		return s, nil
	}
	s.ratio = 1
	text := getenv("OTEL_TRACES_SAMPLER_ARG")
	if text == "" {
		return s, nil
	}
	ratio, err := strconv.ParseFloat(text, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		return s, fmt.Errorf("OTEL_TRACES_SAMPLER_ARG is %q, and should be from 0 to 1: all traces are sent", text)
	}
	s.ratio = ratio
	return s, nil
}

// headersOf parses "name=value,name=value" with values that are escaped as in URLs. The
// error does not repeat values.
func headersOf(text string) (http.Header, error) {
	headers := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		name = strings.TrimSpace(name)
		if !ok || err != nil || name == "" || strings.ContainsAny(name+value, "\r\n\x00") || strings.ContainsAny(name, " :") {
			return headers, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS should be NAME=VALUE,NAME=VALUE with values that are escaped as in URLs: a part of it is ignored")
		}
		headers.Set(name, value)
	}
	return headers, nil
}

// resourceOf returns the attributes of this process.
func resourceOf(getenv func(string) string, product Product) []slog.Attr {
	attrs := []slog.Attr{slog.String("service.name", cmp.Or(getenv("OTEL_SERVICE_NAME"), product.Name)),
		slog.String("service.version", product.Version)}
	for pair := range strings.SplitSeq(getenv("OTEL_RESOURCE_ATTRIBUTES"), ",") {
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		text, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || key == "" {
			continue
		}
		switch {
		case key == "service.name" && getenv("OTEL_SERVICE_NAME") == "":
			attrs[0].Value = slog.StringValue(text)
		case key == "service.version":
			attrs[1].Value = slog.StringValue(text)
		case key != "service.name":
			attrs = append(attrs, slog.String(key, text))
		}
	}
	return attrs
}
