package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/apigateway/types"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	maxBody = 64 << 10               // bytes that are read of an answer
	shown   = 100 * time.Millisecond // resolution of reported skews
)

// reading is a time read from another clock, between began and ended on our own.
type reading struct{ at, began, ended time.Time }

// skew returns by how much the other clock is ahead at least, or behind if the result is negative, however the call's
// time is split between the two directions. coarse is the resolution of the other clock.
func (r *reading) skew(coarse time.Duration) time.Duration {
	if early := r.at.Add(coarse).Sub(r.began); early < 0 {
		return early
	}
	return max(0, r.at.Sub(r.ended))
}

// door checks whether the whole shop is stopped hard (`seckill items stop --hard`). It is the first check because its
// finding matters most.
func (d *Doctor) door(ctx context.Context, c *check) {
	id, stage := d.outputs["ApiId"], d.outputs["ApiStage"]
	d.stage, d.stageErr = apigateway.NewFromConfig(d.AWS).GetStage(ctx, &apigateway.GetStageInput{RestApiId: &id,
		StageName: &stage})
	if d.stageErr != nil {
		d.stage = nil
		c.unasked("whether the shop is stopped hard", d.stageErr)
		return
	}
	common, ok := d.stage.MethodSettings[EveryMethod]
	if d.shut = ok && (common.ThrottlingRateLimit == 0 || common.ThrottlingBurstLimit == 0); d.shut {
		c.fault("THE WHOLE SHOP IS STOPPED HARD: its API only lets Alipay's notifications through. To reopen it: "+
			"seckill items resume --hard --stack %s", d.name())
		return
	}
	c.ok("the shop is not stopped hard")
	var without []string
	limits := d.throttles()
	for _, method := range Limited {
		if limits[method].ThrottlingRateLimit == 0 {
			without = append(without, method)
		}
	}
	if len(without) > 0 {
		c.fault("%d of %d methods have no limit of their own and share one with the crowd: %s; deploy this "+
			"release's templates", len(without), len(Limited), strings.Join(without, ", "))
		return
	}
	c.ok("%d methods have limits of their own", len(Limited))
}

// Limited lists the methods that infra/api.yaml gives limits of their own, by the names that Method returns. A test
// compares the list with infra/api.yaml.
var Limited = []string{"admin/GET", "admin/{proxy+}/GET", "admin/{proxy+}/POST", "docs/GET", "favicon.ico/GET",
	"openapi.json/GET", "operator/{role}/POST", "order/{id}/received/POST", "order/{id}/refund-request/POST",
	"seckill/alipay/notify/POST", "seckill/buy/POST", "seckill/order/{seckill_id}/GET", "signin/POST",
	"signin/end/POST", "signin/sessions/GET", "{page}/GET"}

// EveryMethod is API Gateway's key for the settings of all methods without their own.
const EveryMethod = "*/*"

// Method returns the method of a key of API Gateway's method settings, as seckill/buy/POST: AWS documents keys with
// plain slashes and with those of JSON pointers, ~1.
func Method(key string) string { return strings.TrimLeft(strings.ReplaceAll(key, "~1", "/"), "/") }

// throttles returns the stage's settings by method.
func (d *Doctor) throttles() map[string]types.MethodSetting {
	out := map[string]types.MethodSetting{}
	for key, s := range d.stage.MethodSettings {
		out[Method(key)] = s
	}
	return out
}

// api calls GET /healthz, as a load balancer would.
func (d *Doctor) api(ctx context.Context, c *check) {
	url := d.outputs["Url"] + "/healthz"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		c.fault("the stack's output Url is not a URL: %v", err)
		return
	}
	began := time.Now()
	answer, err := d.HTTP.Do(r)
	if err != nil {
		c.fault("the API cannot be reached from this machine: %v", err)
		return
	}
	defer answer.Body.Close()
	ended := time.Now()
	if at, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		d.date = &reading{at, began, ended}
	}
	var health struct{ Status, Version string }
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody))
	release := d.parameters["Release"]
	switch {
	case answer.StatusCode >= http.StatusInternalServerError:
		c.fault("%s answers %d: the function shop fails or is throttled, see its log (make logs "+
			"FUNCTION=ShopFunction)", url, answer.StatusCode)
	case answer.StatusCode == http.StatusTooManyRequests && d.shut:
		c.fault("%s answers 429 because the shop is stopped hard", url)
	case answer.StatusCode == http.StatusTooManyRequests:
		c.fault("%s answers 429: the calls exceed a limit (ThrottleRate of the parameter Plan, the account's quota), "+
			"or a web ACL refuses", url)
	case answer.StatusCode != http.StatusOK:
		c.fault("%s answers %d: this is not the stack's API, check the parameter PublicUrl", url, answer.StatusCode)
	case err != nil || json.Unmarshal(body, &health) != nil || health.Status != "ok":
		c.fault("%s does not answer like this system: check the parameter PublicUrl", url)
	case release != "" && health.Version != release:
		c.fault("%s runs release %s, the stack has %s: an update is in progress, or the alias still sends traffic "+
			"to the old version", url, health.Version, release)
	default:
		c.ok("%s answers, release %s, in %d ms", url, health.Version, ended.Sub(began).Milliseconds())
	}
}

// sight is the stage function's health report, and when it came.
type sight struct {
	reading
	redis []seckill.CacheNode
}

// clocks compares the clocks of this machine, the API, the functions and Redis.
func (d *Doctor) clocks(_ context.Context, c *check) {
	said := false
	compare := func(whose string, skew time.Duration) {
		said = true
		switch skew = skew.Round(shown); {
		case skew > MaxSkew:
			c.fault("%s is %v ahead of this machine's: if this machine's is wrong, set it by NTP; sales open and "+
				"close by the functions' clock", whose, skew)
		case skew < -MaxSkew:
			c.fault("%s is %v behind this machine's: if this machine's is wrong, set it by NTP; sales open and "+
				"close by the functions' clock", whose, -skew)
		default:
			c.ok("%s and this machine's agree within %v", whose, MaxSkew)
		}
	}
	if d.date != nil {
		compare("the API's clock", d.date.skew(time.Second)) // Date has whole seconds
	}
	if d.health != nil {
		compare("the functions' clock", d.health.skew(0))
		for _, n := range d.health.redis {
			if n.Fault != "" {
				continue
			}
			r := reading{n.Time, d.health.at, d.health.at.Add(time.Duration(n.TookMS+1) * time.Millisecond)}
			if skew := r.skew(time.Millisecond).Round(shown); skew.Abs() > MaxSkew {
				c.fault("the clock of Redis %s differs from the functions' by %v: its host needs NTP", n.Address,
					skew.Abs())
			} else {
				c.ok("the clock of Redis %s and the functions' agree within %v", n.Address, MaxSkew)
			}
		}
	}
	if !said {
		c.unasked("for the time", errNoClock)
	}
}

var errNoClock = errors.New("neither the API nor the stage function answered")
