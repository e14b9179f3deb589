package main

// Exit codes.
const (
	exitOK    = 0
	exitFault = 1 // a failure that no change of flags, files or ports mends
	exitUsage = 2 // the caller has to change a flag, a file or a port
)

// faultError is an error that the caller cannot mend by another flag, file or port.
type faultError struct{ error }

// Unwrap returns the cause.
func (f faultError) Unwrap() error { return f.error }

// self is how the caller named this tool, for commands that messages and help suggest.
var self = "seckill"
