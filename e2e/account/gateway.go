package account

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// OfAPI and OfMethod are names of limits.
const (
	OfAPI    = "API Gateway: requests of the account"
	OfMethod = "API Gateway: requests of a method"
)

// everyMethod is the key of a stage's settings for methods without their own.
const everyMethod = "*/*"

// Throttle is a token bucket's rate per second and its size.
type Throttle struct {
	Rate  float64 `json:"throttlingRateLimit"`
	Burst float64 `json:"throttlingBurstLimit"`
}

// Gateway is API Gateway's throttling. "Throttle requests to your REST APIs for better throughput in API Gateway":
// limits of a stage "are applied at the API method level", so each method has its own bucket even if one setting
// applies to all; a request that passes it then meets the account's bucket.
type Gateway struct {
	clock   Clock
	account *bucket
	counts  *counts

	resources []string

	mu       sync.Mutex
	settings map[string]Throttle // by resource and method, such as /seckill/buy/POST
	buckets  map[string]*bucket  // by the same key
}

// newGateway returns a stage with these settings, in the account's scale.
func (a *Account) newGateway(settings map[string]Throttle, resources []string) *Gateway {
	g := &Gateway{
		clock:     a.clock,
		account:   newBucket(a.clock, a.limits.APIRate, a.limits.APIBurst),
		counts:    &a.counts,
		resources: resources,
		settings:  map[string]Throttle{},
		buckets:   map[string]*bucket{},
	}
	for key, t := range settings {
		g.settings[key] = t
	}
	return g
}

// Let reports whether a request passes. Otherwise API Gateway answers 429 (gateway response THROTTLED).
func (g *Gateway) Let(method, resource string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	key := resource + "/" + method
	t, ok := g.settings[key]
	if !ok {
		t, ok = g.settings[everyMethod]
	}
	if ok {
		b := g.buckets[key]
		if b == nil {
			b = newBucket(g.clock, t.Rate, t.Burst)
			g.buckets[key] = b
		}
		passed := t.Rate > 0 && b.take()
		g.counts.add(OfMethod, passed)
		if !passed {
			return false
		}
	}
	passed := g.account.take()
	g.counts.add(OfAPI, passed)
	return passed
}

// stage answers GetStage and UpdateStage.
func (g *Gateway) stage(w http.ResponseWriter, r *http.Request, scale float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.Method == http.MethodPatch {
		var in struct {
			PatchOperations []struct{ Op, Path, Value string }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			awsError(w, http.StatusBadRequest, "BadRequestException", err.Error())
			return
		}
		for _, p := range in.PatchOperations {
			if err := g.patch(p.Op, p.Path, p.Value, scale); err != nil {
				awsError(w, http.StatusBadRequest, "BadRequestException", err.Error())
				return
			}
		}
	}
	settings := map[string]Throttle{}
	for key, t := range g.settings {
		settings[pathKey(key)] = Throttle{t.Rate * scale, t.Burst * scale}
	}
	writeJSON(w, http.StatusOK, map[string]any{"stageName": "live", "methodSettings": settings})
}

// pathKey returns a setting's key in GetStage's form: ~1seckill~1buy/POST, */*.
func pathKey(key string) string {
	at := strings.LastIndex(key, "/")
	return strings.ReplaceAll(key[:at], "/", "~1") + key[at:]
}

// has reports whether a method can have settings: a method of one of the API's resources, written with all its
// slashes, or all methods.
func (g *Gateway) has(resource, method string) bool {
	if resource+"/"+method == everyMethod {
		return true
	}
	return slices.Contains(methods, method) && slices.Contains(g.resources, resource)
}

var methods = []string{
	http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead,
	http.MethodOptions, "ANY",
}

// patch applies one operation of UpdateStage ("Patch operations", Amazon API Gateway REST API Reference): replace a
// method's throttling, or remove all of a method's own settings. Values are the account's own and are scaled here.
func (g *Gateway) patch(op, path, value string, scale float64) error {
	rest, rooted := strings.CutPrefix(path, "/")
	parts := strings.Split(rest, "/")
	if !rooted || len(parts) < 2 || !g.has(strings.ReplaceAll(parts[0], "~1", "/"), parts[1]) {
		return fmt.Errorf("Invalid method setting path: %s", path) //nolint:staticcheck // API Gateway's own text
	}
	key := strings.ReplaceAll(parts[0], "~1", "/") + "/" + parts[1]
	if op == "remove" && len(parts) == 2 {
		delete(g.settings, key)
		delete(g.buckets, key)
		return nil
	}
	n, err := strconv.ParseFloat(value, 64)
	if op != "replace" || len(parts) != 4 || parts[2] != "throttling" || err != nil {
		return fmt.Errorf("invalid patch operation %s %s %s", op, path, value)
	}
	if n > 0 {
		n = max(1, n/scale)
	}
	t, ok := g.settings[key]
	if !ok {
		t = g.settings[everyMethod]
	}
	switch parts[3] {
	case "rateLimit":
		t.Rate = n
	case "burstLimit":
		t.Burst = n
	default:
		return fmt.Errorf("invalid patch path %s", path)
	}
	g.settings[key] = t
	if key == everyMethod {
		g.buckets = map[string]*bucket{}
	}
	delete(g.buckets, key)
	return nil
}
