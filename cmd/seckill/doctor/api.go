package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/apigateway"

	"github.com/your-org/seckill/shared/adapter/redisconn"
)

const (
	maxBody = 64 << 10               // bytes of an answer that are read
	shown   = 100 * time.Millisecond // what of a skew is told
)

// reading is a foreign clock that was read: by our own clock between began and ended.
type reading struct{ at, began, ended time.Time }

// skew is by how much the foreign clock is certainly ahead (or behind, below 0), whatever part of the call's time the
// way there took. coarse is the clock's own step.
func (r *reading) skew(coarse time.Duration) time.Duration {
	if early := r.at.Add(coarse).Sub(r.began); early < 0 {
		return early
	}
	return max(0, r.at.Sub(r.ended))
}

// door looks whether the whole shop is stopped hard (`seckill items stop --hard`), which nothing else that is found can
// outweigh.
func (d *Doctor) door(ctx context.Context, c *check) {
	id, stage := d.outputs["ApiId"], d.outputs["ApiStage"]
	d.stage, d.stageErr = apigateway.NewFromConfig(d.AWS).GetStage(ctx, &apigateway.GetStageInput{RestApiId: &id,
		StageName: &stage})
	if d.stageErr != nil {
		d.stage = nil
		c.unasked("whether the shop is stopped hard", d.stageErr)
		return
	}
	common, ok := d.stage.MethodSettings[everyMethod]
	if d.shut = ok && (common.ThrottlingRateLimit == 0 || common.ThrottlingBurstLimit == 0); d.shut {
		c.fault("THE WHOLE SHOP IS STOPPED HARD: its API lets nothing through but Alipay's notifications. To open it: "+
			"seckill items resume --hard --stack %s", d.name())
		return
	}
	c.ok("the shop is not stopped hard")
}

// everyMethod is API Gateway's key of what holds for all methods without settings of their own.
const everyMethod = "*/*"

// api asks for GET /healthz, as a load balancer would.
func (d *Doctor) api(ctx context.Context, c *check) {
	url := d.outputs["Url"] + "/healthz"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		c.fault("the stack's output Url is no address: %v", err)
		return
	}
	began := time.Now()
	answer, err := d.HTTP.Do(r)
	if err != nil {
		c.fault("it cannot be reached from here: %v", err)
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
		c.fault(
			"%s answers %d: the function shop fails or is throttled, its log says why (make logs "+
				"FUNCTION=ShopFunction)", url, answer.StatusCode)
	case answer.StatusCode == http.StatusTooManyRequests && d.shut:
		c.fault("%s answers 429, since the shop is stopped hard", url)
	case answer.StatusCode == http.StatusTooManyRequests:
		c.fault("%s answers 429: more calls come than are let through (parameter ThrottleRate, the account's "+
			"quota), or a web ACL refuses", url)
	case answer.StatusCode != http.StatusOK:
		c.fault("%s answers %d: that is not this stack's API, see the parameter PublicUrl", url, answer.StatusCode)
	case err != nil || json.Unmarshal(body, &health) != nil || health.Status != "ok":
		c.fault("%s does not answer as this system does: see the parameter PublicUrl", url)
	case release != "" && health.Version != release:
		c.fault(
			"%s is of release %s, the stack of %s: an update is under way, or traffic still goes to the alias's old "+
				"version", url, health.Version, release)
	default:
		c.ok("%s answers, release %s, in %d ms", url, health.Version, ended.Sub(began).Milliseconds())
	}
}

// sight is what the stage function said of itself, when.
type sight struct {
	reading
	redis []redisconn.Node
}

// clocks compares this machine's, the API's, the functions' and Redis' clocks.
func (d *Doctor) clocks(_ context.Context, c *check) {
	said := false
	compare := func(whose string, skew time.Duration) {
		said = true
		switch skew = skew.Round(shown); {
		case skew > MaxSkew:
			c.fault(
				"%s is %v ahead of this machine's: set this machine's by NTP if it is the wrong one; sales open and "+
					"close by the functions'", whose, skew)
		case skew < -MaxSkew:
			c.fault(
				"%s is %v behind this machine's: set this machine's by NTP if it is the wrong one; sales open and "+
					"close by the functions'", whose, -skew)
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
				c.fault("the clock of Redis %s is %v from the functions': its host needs NTP", n.Address, skew)
			} else {
				c.ok("the clock of Redis %s and the functions' agree within %v", n.Address, MaxSkew)
			}
		}
	}
	if !said {
		c.unasked("what time it is there", errNoClock)
	}
}

var errNoClock = errors.New("neither the API nor the stage function answered")
