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

// standInMain runs a stand-in for the CDN on this machine, until Ctrl-C.
func standInMain(args []string) error {
	var s edge.StandIn
	flags := flag.NewFlagSet("stand-in", flag.ExitOnError)
	flags.StringVar(&s.Listen, "listen", "127.0.0.1:8080", "`host:port` of the shop")
	flags.StringVar(&s.Origin, "origin", "http://127.0.0.1:8100", "`address` of the API, its stage included")
	said := flags.String("said", "", "`text` before the address")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return errUsage
	}
	dir, err := os.MkdirTemp("", "seckill-edge-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	s.Dir, s.Key = dir, "none"
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return s.Run(ctx, func() { fmt.Println(strings.TrimSpace(*said + " http://" + s.Listen)) })
}
