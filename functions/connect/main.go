// Command connect lets shoppers' pages connect, and is told when they have gone, as a Lambda function behind the routes
// $connect and $disconnect of a WebSocket API.
package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/your-org/seckill/functions/internal/boot"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/driver/system"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/flow/front/push"
	"github.com/your-org/seckill/shared/seckill"
)

func main() {
	boot.Run("connect", func(s config.Connect, b *boot.Boot) apigw.Handler {
		flow := push.New(push.Deps{Connections: b.Connections(), Wire: b.Wire(s.Door.Stage), Clock: b.Clock,
			Meter: b.Meter, Each: system.Several(wspush.AtOnce)})
		return apigw.WebSocket(&door{flow, b.Passes(s.Tokens), b})
	})
}

// door is an apigw.Door.
type door struct {
	flow   *push.Flow
	passes boot.Passes
	boot   *boot.Boot
}

// Connect implements apigw.Door: 403 for a page whose pass is no good, which gets another one or polls; 503 for a
// fault.
func (d *door) Connect(ctx context.Context, connection, offered string) (status int, protocol string) {
	text, err := wspush.Offered(offered)
	var pass seckill.Pass
	if err == nil {
		pass, err = d.passes.Check(text)
	}
	if err == nil {
		err = d.flow.Connect(ctx, pass, connection)
	}
	switch {
	case err == nil:
		return http.StatusOK, seckill.PushProtocol
	case errors.Is(err, seckill.ErrPass):
		d.boot.Meter.Count(seckill.EventPassRefused, 1)
		return http.StatusForbidden, ""
	}
	d.boot.Log.WarnContext(ctx, "not connected", "err", err)
	return http.StatusServiceUnavailable, ""
}

// Disconnect implements apigw.Door.
func (d *door) Disconnect(ctx context.Context, connection string) error {
	return d.flow.Disconnect(ctx, connection)
}
