// Command connect lets shoppers' pages connect, and is told when they have gone, as a Lambda function behind the routes
// $connect and $disconnect of a WebSocket API.
package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/bucket"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/api/jwtauth"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/flow/front/push"
	"github.com/your-org/seckill/shared/seckill"
)

func main() {
	aws.Run("connect", func(d *aws.Drivers) apigw.Handler {
		return apigw.WebSocket(&connector{app.Push(d, wspush.AtOnce), d.Passes(), d.ReturnPages(), d.Tokens(),
			bucket.New(bucket.Rate{Every: 100 * time.Millisecond, Burst: 600}, 1), d})
	})
}

// connector is an apigw.Connector.
type connector struct {
	flow    *push.Flow
	passes  *jwtauth.Passes
	pages   seckill.ReturnPages
	who     httpapi.Who
	lines   *bucket.Buckets // of the log
	drivers *aws.Drivers
}

// Connect implements apigw.Connector: 403 for a page of another website and for a page whose pass is not good, which
// gets another pass or polls; 503 for a fault.
func (c *connector) Connect(ctx context.Context, h apigw.Handshake) (status int, protocol string) {
	text, err := wspush.Offered(h.Offered)
	if !c.pages.Shows(h.Origin) {
		err = seckill.ErrPass // which stays good: it may be stolen
	}
	var pass seckill.Pass
	if err == nil {
		pass, err = c.passes.Check(text)
	}
	if err == nil {
		err = c.flow.Connect(ctx, pass, h.Connection)
	}
	switch {
	case err == nil:
		return http.StatusOK, seckill.PushProtocol
	case errors.Is(err, seckill.ErrPass):
		c.drivers.Count(seckill.EventPassRefused)
		c.say(ctx, h)
		return http.StatusForbidden, ""
	}
	c.drivers.Log.WarnContext(ctx, "not connected", "err", err)
	return http.StatusServiceUnavailable, ""
}

// say logs a handshake that is refused, 600 at once and then ten a second.
func (c *connector) say(ctx context.Context, h apigw.Handshake) {
	now := c.drivers.Clock().Now()
	if c.lines.Take("", now) > 0 {
		return
	}
	network, _ := httpapi.NetworkOf(h.From)
	_, hash := actlog.Hashes(c.who.Hash, now, "", network)
	c.drivers.Log.InfoContext(ctx, "refused", "reason", "handshake", "own_page", c.pages.Shows(h.Origin),
		"network_hash", hash)
}

// Disconnect implements apigw.Connector.
func (c *connector) Disconnect(ctx context.Context, connection string) error {
	return c.flow.Disconnect(ctx, connection)
}
