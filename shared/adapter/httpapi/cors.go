package httpapi

import "net/http"

// cors tells a browser whether pages of another origin may read an answer (Fetch standard, "CORS protocol"). It is
// the same whatever origin asks: the browser compares. The zero value tells nothing. The browser's question beforehand
// is no route of ours: API Gateway answers it.
type cors struct {
	allow       []string // Access-Control-Allow-Origin
	vary        []string // Vary of an answer that has one language
	varyProblem []string // Vary of a problem
}

// exposed are the headers that a page needs beside those that it may always see. X-Amz-Apigw-Id is API Gateway's; it
// names the request in our logs.
var exposed = []string{"Content-Language, Retry-After, X-Amz-Apigw-Id"}

func newCORS(origin string) cors {
	switch origin {
	case "":
		return cors{varyProblem: vary}
	case "*":
		return cors{allow: []string{"*"}, varyProblem: vary}
	default: // one origin's answer is not to be taken from a cache for another's
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
