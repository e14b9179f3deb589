package local

import (
	"net/http"
	"net/netip"
)

// MachineAddr is the loopback address from which a simulated crowd sends the requests of its machine n, from 1. With
// Options.Machines such a request counts as one from the internet, so that the limits of a network apply to it. Only
// the source address of the connection counts, no header; a system that others use has no such option.
func MachineAddr(n int) netip.Addr { return netip.AddrFrom4([4]byte{127, 1, 0, byte(n)}) }

// machines gives requests of a simulated crowd's machines addresses of a network for measurements (RFC 2544).
func (s *System) machines(next http.Handler) http.Handler {
	if !s.opt.Machines {
		return next
	}
	simulated := netip.PrefixFrom(MachineAddr(0), 24)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from, err := netip.ParseAddrPort(r.RemoteAddr); err == nil && simulated.Contains(from.Addr()) {
			n := from.Addr().As4()[3]
			r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{198, 18, 0, n}), from.Port()).String()
		}
		next.ServeHTTP(w, r)
	})
}
