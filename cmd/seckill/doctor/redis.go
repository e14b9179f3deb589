package doctor

import (
	"context"
	"errors"

	"github.com/your-org/seckill/infra/stackstate"
	"github.com/your-org/seckill/shared/seckill"
)

// server checks what one Redis server reports about itself.
func (c *check) server(ctx context.Context, n *seckill.CacheNode) {
	if n.Fault != "" {
		c.fault("the functions cannot reach Redis at %s: %s; check the endpoint, its TLS, password and security group",
			c.outputs["RedisEndpoint"], n.Fault)
		return
	}
	if n.Role == "slave" {
		c.fault("Redis %s is a replica, which takes no writes: set RedisEndpoint to the primary", n.Address)
		return
	}
	c.ok("Redis %s answers the functions in %d ms, connecting included", n.Address, n.TookMS)
	switch {
	case n.Evicts():
		c.fault("Redis %s evicts keys of sales when it is full (maxmemory-policy %s): set noeviction",
			n.Address, n.Policy)
	case n.Policy == "" && c.parameters["CreateCache"] == "true":
		c.cache(ctx)
	case n.Policy == "":
		why := n.Refused
		if why == "" {
			why = "INFO does not have it"
		}
		c.unasked("for the eviction policy of Redis "+n.Address,
			errors.New(why+"; make sure that maxmemory-policy is noeviction"))
	default: // noeviction, or volatile-…
		c.ok("Redis %s evicts no key of a sale (maxmemory-policy %s)", n.Address, n.Policy)
	}
	switch {
	case n.Full():
		c.fault("Redis %s uses %s of %s, and purchases fail when it is full: give it more memory", n.Address,
			size(n.Used), size(n.Limit))
	case n.Limit > 0:
		c.ok("Redis %s uses %s of %s", n.Address, size(n.Used), size(n.Limit))
	case n.Used > 0:
		c.ok("Redis %s uses %s, limited only by its machine", n.Address, size(n.Used))
	}
}

// cache reads the limit of the stack's own cache from its nested stack, because ElastiCache Serverless reports neither
// policy nor limit. It evicts only keys with a time to live, which a sale's keys do not have (docs/DATA.md).
func (c *check) cache(ctx context.Context) {
	const what = "for the cache's storage limit"
	found, err := c.nested(ctx, "Cache")
	if err != nil {
		c.unasked(what, err)
		return
	}
	most := stackstate.Parameter(found, "MaxGigabytes")
	if most == "" {
		c.unasked(what, errors.New("its stack has no parameter MaxGigabytes"))
		return
	}
	c.ok("the cache is ElastiCache Serverless, which evicts no key of a sale; it holds at most %s GB", most)
}
