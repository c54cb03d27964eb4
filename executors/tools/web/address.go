package web

import (
	"encoding/binary"
	"net"
	"net/netip"
)

// specialBlocks are the address blocks outside the public Internet, with their names
// for messages. They include every row of IANA's registries, even a block that
// IANA calls globally reachable if no web server can have an address in it.
//
//	https://www.iana.org/assignments/iana-ipv4-special-registry
//	https://www.iana.org/assignments/iana-ipv6-special-registry
//	https://www.iana.org/assignments/multicast-addresses
var specialBlocks = parseBlocks([][2]string{
	{"0.0.0.0/8", "this network"},
	{"10.0.0.0/8", "a private network"},
	{"100.64.0.0/10", "shared address space"},
	{"127.0.0.0/8", "this machine"},
	{"168.63.129.16/32", "a cloud's metadata service"}, // Azure's: within a public block
	{"169.254.0.0/16", "link-local or a cloud's metadata service"},
	{"172.16.0.0/12", "a private network"},
	{"192.0.0.0/24", "reserved for protocols"},
	{"192.0.2.0/24", "for documentation"},
	{"192.31.196.0/24", "an AS112 sink"},
	{"192.52.193.0/24", "a multicast tunnel"},
	{"192.88.99.0/24", "a 6to4 relay"},
	{"192.168.0.0/16", "a private network"},
	{"192.175.48.0/24", "an AS112 sink"},
	{"198.18.0.0/15", "for benchmarks"},
	{"198.51.100.0/24", "for documentation"},
	{"203.0.113.0/24", "for documentation"},
	{"224.0.0.0/4", "multicast"},
	{"240.0.0.0/4", "reserved or broadcast"},

	{"::1/128", "this machine"},
	{"::/128", "the unspecified address"},
	{"::ffff:0:0/96", "IPv4 in IPv6"},
	{"::ffff:0:0:0/96", "IPv4 in IPv6"}, // RFC 2765, obsolete
	{"::/96", "IPv4 in IPv6"},
	{"64:ff9b:1::/48", "a local translation of IPv4"},
	{"100::/64", "discarded"},
	{"100:0:0:1::/64", "a dummy"},
	{"2001::/32", "a Teredo tunnel"},
	{"2001::/23", "reserved for protocols"},
	{"2001:db8::/32", "for documentation"},
	{"2002::/16", "a 6to4 tunnel"},
	{"2620:4f:8000::/48", "an AS112 sink"},
	{"3ffe::/16", "the former 6bone"},
	{"3fff::/20", "for documentation"},
	{"5f00::/16", "segment routing"},
	{"fc00::/7", "a private network"},
	{"fe80::/10", "link-local"},
	{"fec0::/10", "a private network"},
	{"ff00::/8", "multicast"},
})

type namedBlock struct {
	block netip.Prefix
	name  string
}

func parseBlocks(rows [][2]string) []namedBlock {
	blocks := make([]namedBlock, len(rows))
	for i, row := range rows {
		blocks[i] = namedBlock{netip.MustParsePrefix(row[0]), row[1]}
	}
	return blocks
}

var (
	globalUnicast = netip.MustParsePrefix("2000::/3")     // all allocated IPv6 addresses
	nat64         = netip.MustParsePrefix("64:ff9b::/96") // RFC 6052: IPv4 addresses from a network without IPv4
)

// addressProblem returns why an address must not be contacted, "" for an address of the public
// Internet. near are the networks of this machine: a host in them is local, regardless of its
// address.
func addressProblem(a netip.Addr, near []netip.Prefix) string {
	if a.Zone() != "" {
		return "link-local"
	}
	for _, s := range specialBlocks {
		if s.block.Contains(a) {
			return s.name
		}
	}
	if a.Is6() {
		b := a.As16()
		switch {
		case nat64.Contains(a):
			return addressProblem(netip.AddrFrom4([4]byte(b[12:])), near)
		case !globalUnicast.Contains(a):
			return "not in use"
		case binary.BigEndian.Uint32(b[8:])&^0x0200_0000 == 0x5efe: // RFC 5214
			return "an ISATAP tunnel"
		}
	}
	for _, p := range near {
		if p.Contains(a) {
			return "a network that this machine is in"
		}
	}
	return ""
}

// interfaceNetworks lists the networks of this machine's interfaces. For a mask that
// would include much of the Internet, as some tunnels have, it lists only the
// interface's address.
func interfaceNetworks() []netip.Prefix {
	var near []netip.Prefix
	addrs, _ := net.InterfaceAddrs() // without them the other rules still apply
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err != nil {
			continue
		}
		if ip := p.Addr().Unmap(); p.Bits() < 8 || ip.Is6() && p.Bits() < 32 {
			p = netip.PrefixFrom(ip, ip.BitLen())
		}
		near = append(near, p.Masked())
	}
	return near
}
