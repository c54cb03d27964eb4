package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// network does the lookups and connections of a client, so that tests can replace them.
// No setting changes it. Every address is checked before it is dialled, in tests too.
type network struct {
	lookup        func(ctx context.Context, name string) ([]netip.Addr, error)
	dial          func(ctx context.Context, addr netip.AddrPort) (net.Conn, error)
	localNetworks func() []netip.Prefix
	roots         *x509.CertPool // nil means the system's
}

// system returns the network of this machine. It connects to no blocked address.
func system() network {
	n := network{
		lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		},
		localNetworks: interfaceNetworks,
	}
	n.dial = func(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
		// The last check, before the kernel connects: a mistake above cannot
		// lead to another address.
		d := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
			a, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return blockedFailure(address, a.Addr().Unmap(), n.localNetworks())
		}}
		return d.DialContext(ctx, "tcp", addr.String())
	}
	return n
}

// blockedFailure returns a failure if the address of a name must not be contacted.
func blockedFailure(name string, a netip.Addr, near []netip.Prefix) error {
	if why := addressProblem(a, near); why != "" {
		return blocked("%s may not be contacted: its address %s is not on the public Internet (%s)", name, a, why)
	}
	return nil
}

// Limits of one connection.
const (
	maxTries   = 4               // addresses of a host that are tried
	tryTimeout = 5 * time.Second // for each but the last
	maxHeader  = 64 << 10        // of a response, in bytes
)

// addresses returns the addresses of a host. If one of them is not public, it
// refuses the host, since the user does not choose which one answers.
func (c *client) addresses(ctx context.Context, h host) ([]netip.Addr, error) {
	addrs := []netip.Addr{h.addr}
	if !h.addr.IsValid() {
		var err error
		// The final dot keeps the resolver from trying the local network's
		// domains.
		addrs, err = c.net.lookup(ctx, h.name+".")
		if err != nil {
			if de, ok := errors.AsType[*net.DNSError](err); ok && de.IsNotFound {
				return nil, executors.Failuref(executors.PermanentFailure, "no such host: %s", h.name)
			}
			return nil, executors.Failuref(executors.NetworkError, "look up %s: %v", h.name, err)
		}
	}
	near := c.net.localNetworks()
	for i, a := range addrs {
		addrs[i] = a.Unmap() // so that the checked address is the dialled one
		if err := blockedFailure(h.name, addrs[i], near); err != nil {
			return nil, err
		}
	}
	if len(addrs) == 0 {
		return nil, executors.Failuref(executors.PermanentFailure, "%s has no address", h.name)
	}
	return addrs[:min(len(addrs), maxTries)], nil
}

// transport returns the transport of one request to u. It dials only the
// checked addresses, whatever name it receives. It keeps no connection, so that
// no other host uses it. It ignores the proxies of the environment, which would
// resolve names themselves. It speaks HTTP/1.1, which all servers support.
func (c *client) transport(u *url.URL, h host, addrs []netip.Addr) *http.Transport {
	port := uint16(443)
	if ap, err := netip.ParseAddrPort("0.0.0.0:" + u.Port()); err == nil {
		port = ap.Port()
	}
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return c.connect(ctx, addrs, port)
		},
		TLSClientConfig:        &tls.Config{RootCAs: c.net.roots, ServerName: h.name, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true,
		DisableCompression:     true, // it would not limit the decompressed size
		MaxResponseHeaderBytes: maxHeader,
		Protocols:              new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	return t
}

// connect dials the addresses in turn.
func (c *client) connect(ctx context.Context, addrs []netip.Addr, port uint16) (net.Conn, error) {
	var errs []error
	for i, a := range addrs {
		try, cancel := ctx, context.CancelFunc(func() {})
		if i < len(addrs)-1 {
			try, cancel = context.WithTimeout(ctx, tryTimeout)
		}
		conn, err := c.net.dial(try, netip.AddrPortFrom(a, port))
		cancel()
		if err == nil || ctx.Err() != nil {
			return conn, err
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// DialPublic dials an address, HOST:PORT, if all addresses of the host are on the
// public Internet. It suits http.Transport. An error for any other host is a
// [*executors.Failure].
func DialPublic(ctx context.Context, _, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	h, err := parseHost(name)
	if err != nil {
		return nil, err
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	c := newClient(Config{})
	addrs, err := c.addresses(ctx, h)
	if err != nil {
		return nil, err
	}
	return c.connect(ctx, addrs, uint16(number))
}

// IsPublic reports whether a host, a name or an address, may be on the public Internet.
// It does no lookup.
func IsPublic(name string) bool {
	h, err := parseHost(name)
	return err == nil && (!h.addr.IsValid() || addressProblem(h.addr, interfaceNetworks()) == "")
}
