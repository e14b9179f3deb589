// Package edge holds what runs in front of a stack: the function of its CDN, and the checks that it works in the
// language of CloudFront's runtime. In: requests and answers on their way. Out: the same, with the server's time and
// one of two languages. It touches nothing.
package edge
