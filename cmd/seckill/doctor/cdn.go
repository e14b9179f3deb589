package doctor

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"
	"github.com/aws/aws-sdk-go-v2/service/sns"

	"github.com/your-org/seckill/infra/stackstate"
)

const (
	cdnRegion = "us-east-1" // where infra/stack deploys it
	cdnStamp  = "X-Now"     // a header that the CDN's function writes on answers below 400
)

// cdn checks the way through the CDN, if the stack has one, and that there is no way past it.
func (d *Doctor) cdn(ctx context.Context, c *check) {
	edge := d.outputs["Edge"]
	if edge == "" || edge == "none" {
		return
	}
	name := d.name() + "-edge"
	found, err := stackstate.Find(ctx, cloudformation.NewFromConfig(d.AWS,
		func(o *cloudformation.Options) { o.Region = cdnRegion }), name)
	switch {
	case err != nil:
		c.unasked("for the stack "+name+" in "+cdnRegion, err)
	case found == nil:
		c.fault("the stack has Edge=%s, but there is no stack %s in %s: make deploy EDGE=true", edge, name, cdnRegion)
	default:
		c.through(ctx, found)
		if topic := stackstate.Output(found, "AlarmTopic"); topic != "" {
			c.subscriptions(ctx, sns.NewFromConfig(d.AWS, func(o *sns.Options) { o.Region = cdnRegion }), topic)
		}
	}
	c.past(ctx, edge)
}

// through asks the CDN for /healthz. Another check looks at the API's own answer.
func (c *check) through(ctx context.Context, cdn *types.Stack) {
	url, domain := stackstate.Output(cdn, "Url"), stackstate.Output(cdn, "DistributionDomain")
	status, header, err := c.get(ctx, url+"/healthz")
	switch {
	case err != nil:
		c.fault("the CDN cannot be reached at %s (its domain has to lead to %s): %v", url, domain, err)
	case status == http.StatusForbidden:
		c.fault("%s/healthz answers 403: the API does not accept the CDN's key (make deploy EDGE=true), or the CDN's "+
			"web ACL refuses this machine", url)
	case status < http.StatusBadRequest && header.Get(cdnStamp) == "":
		c.fault("%s does not lead through the CDN: its domain has to lead to %s", url, domain)
	default:
		c.ok("%s leads through the CDN", url)
	}
	if at := c.outputs["Url"]; at != url {
		c.fault("the stack's address is %s, the CDN's is %s: make deploy EDGE=true, which sets PublicUrl", at, url)
		return
	}
	c.ok("the stack's address is the CDN's")
}

// past asks the API at its own address, without the CDN's key.
func (c *check) past(ctx context.Context, edge string) {
	const what = "whether the API answers past the CDN"
	api, err := c.nested(ctx, "Api")
	if err != nil {
		c.unasked(what, err)
		return
	}
	url := stackstate.Output(api, "Url")
	status, _, err := c.get(ctx, url+"/healthz")
	switch {
	case err != nil:
		c.unasked(what, err)
	case status == http.StatusForbidden:
		c.ok("past the CDN %s/healthz answers 403", url)
	case status == http.StatusTooManyRequests:
		c.unasked(what, errors.New(url+"/healthz answers 429"))
	default:
		c.fault("%s/healthz answers %d past the CDN, because Edge is %s: make deploy EDGE=true, which sets Edge=only",
			url, status, edge)
	}
}

// get asks for an address and returns the answer's status and header.
func (c *check) get(ctx context.Context, url string) (int, http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	answer, err := c.HTTP.Do(r)
	if err != nil {
		return 0, nil, err
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxBody)) // so that the connection can be used again
	return answer.StatusCode, answer.Header, answer.Body.Close()
}
