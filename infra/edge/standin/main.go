// Command standin runs a stand-in for the CDN of infra/edge.yaml on this machine, until Ctrl-C. In: -origin, the
// address of the API; nginx and its njs. Out: the shop at -listen, and -dir with nginx's logs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/your-org/seckill/infra/edge"
)

func main() {
	var s edge.StandIn
	flag.StringVar(&s.Listen, "listen", "127.0.0.1:8080", "`host:port` of the shop")
	flag.StringVar(&s.Origin, "origin", "http://127.0.0.1:8100", "`address` of the API, its stage included")
	flag.StringVar(&s.Key, "key", "none", "sent to the API as X-Api-Key")
	flag.StringVar(&s.Dir, "dir", "", "`folder` for cache and logs (default a temporary one)")
	said := flag.String("said", "", "`text` before the address")
	flag.Parse()
	if err := run(s, *said); err != nil {
		fmt.Fprintf(os.Stderr, "standin: %v\n", err)
		os.Exit(1)
	}
}

func run(s edge.StandIn, said string) error {
	if s.Dir == "" {
		dir, err := os.MkdirTemp("", "seckill-edge-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		s.Dir = dir
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return s.Run(ctx, func() { fmt.Println(strings.TrimSpace(said + " http://" + s.Listen)) })
}
