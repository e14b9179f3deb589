package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit codes.
const (
	exitOK    = 0
	exitFault = 1 // a failure that no other flag, file or port fixes
	exitUsage = 2 // the caller must change a flag, a file or a port
)

// faultError is an error that the caller cannot fix by another flag, file or port.
type faultError struct{ error }

// Unwrap returns the cause.
func (f faultError) Unwrap() error { return f.error }

// flagError returns the error of a flag with what helps: for an unknown flag, the flags that may be meant; for a value
// that cannot be read, what the flag takes.
func flagError(cmd *cobra.Command, err error) error {
	if unknown := (*pflag.NotExistError)(nil); errors.As(err, &unknown) {
		name := unknown.GetSpecifiedName()
		names := &cobra.Command{SuggestionsMinimumDistance: max(1, len(name)/4)} // which knows near names
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		})
		if near := names.SuggestionsFor(name); len(near) > 0 {
			return fmt.Errorf("%w, did you mean --%s?", err, strings.Join(near, " or --"))
		}
	}
	var e *pflag.InvalidValueError
	if !errors.As(err, &e) {
		return err
	}
	if _, own := e.GetFlag().Value.(*argument); own {
		return fmt.Errorf("--%s %+.60q: %w", e.GetFlag().Name, e.GetValue(), e.Unwrap())
	}
	if wantedOf[e.GetFlag().Value.Type()] == "" {
		return err
	}
	return fmt.Errorf("--%s %+.60q: want %s", e.GetFlag().Name, e.GetValue(), wantedOf[e.GetFlag().Value.Type()])
}

// self is the name that the caller used for this tool, such as bin/seckill.
var self = "seckill"

var ownCommand = regexp.MustCompile(
	`(^|[\s"(])seckill (run|items|activities|orders|payments|refund|unknown|reconcile|erase|blocks|acts|events|counts|` +
		`live|redrive|load|plan|staff|keys|token|doctor|audit|report|sim|version)\b`)

// asCalled replaces the tool's name in the commands that a text suggests by the name that the caller used.
func asCalled(text string) string { return ownCommand.ReplaceAllString(text, "${1}"+self+" $2") }
