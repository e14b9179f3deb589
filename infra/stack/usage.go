package main

import "errors"

// errUsage is the error of arguments that no command takes.
var errUsage = errors.New("usage: stack guard deploy|failed|shields|protect|destroy, deployment -built DIR, " +
	"cdn deploy|url|destroy [-key a|b] [-share PERCENT] [-subdomains true|false], wall, templates DIR, stand-in, " +
	"or destroy [-tables]; with -stack NAME -region REGION, and [KEY=VALUE…] of a deployment")
