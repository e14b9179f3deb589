package httpapi

import "net/http"

// cors tells browsers whether pages of other origins may read an answer (Fetch standard, "CORS protocol"). The
// headers do not depend on the request's origin: the browser compares. The zero value adds no headers. API Gateway
// answers preflight requests.
type cors struct {
	allow       []string // Access-Control-Allow-Origin
	vary        []string // Vary of an answer with one language
	varyProblem []string // Vary of a problem document
}

// exposed lists the headers that a page may read in addition to the safelisted ones. API Gateway sets
// X-Amz-Apigw-Id, which names the request in our logs.
var exposed = []string{"Content-Language, Retry-After, X-Amz-Apigw-Id"}

func newCORS(origin string) cors {
	switch origin {
	case "":
		return cors{varyProblem: vary}
	case "*":
		return cors{allow: []string{"*"}, varyProblem: vary}
	default: // caches must not reuse one origin's answer for another
		return cors{[]string{origin}, []string{"Origin"}, []string{"Accept-Language, Origin"}}
	}
}

func (c *cors) write(header http.Header) {
	if c.allow == nil {
		return
	}
	header["Access-Control-Allow-Origin"] = c.allow
	header["Access-Control-Expose-Headers"] = exposed
	if c.vary != nil {
		header["Vary"] = c.vary
	}
}
