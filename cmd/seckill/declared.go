package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/your-org/seckill/shared/api/operator"
)

// addDeclared adds a subcommand for each staff command whose path no hand-written subcommand has.
func addDeclared(root *cobra.Command, sayings []saying) {
	for _, c := range operator.All() {
		parent, path := root, strings.Fields(c.Spec().Path)
		for len(path) > 0 {
			at := slices.IndexFunc(parent.Commands(), func(c *cobra.Command) bool { return c.Name() == path[0] })
			if at < 0 {
				break
			}
			parent, path = parent.Commands()[at], path[1:]
		}
		if len(path) == 1 {
			parent.AddCommand(declaredCommand(c.Spec(), path[0], parent.PersistentFlags().Lookup, sayings))
		}
	}
}

// declaredCommand makes the subcommand of a staff command from its declaration, with the flags that its parent lacks.
func declaredCommand(spec operator.Spec, name string, parents func(name string) *pflag.Flag,
	sayings []saying) *cobra.Command {
	c := operator.New(spec.Name)
	changes := !operator.ReadsOnly(c)
	cmd := &cobra.Command{Use: name, Short: spec.Short, Long: spec.Long, Example: "  seckill " + spec.Path}
	var f shopFlags
	alone := parents("url") == nil
	if alone {
		f.on(cmd)
	}
	if parents("json") == nil {
		cmd.Flags().Bool("json", false, "print the result as JSON")
	}
	var args []operator.Field
	var required, words []string
	for _, field := range operator.Fields(c) {
		sample := field.Sample
		if field.Arg != "" {
			args, words = append(args, field), append(words, field.Arg)
			cmd.Use, cmd.Example = cmd.Use+" "+field.Arg, cmd.Example+" "+word(sample)
			continue
		}
		if field.Must {
			required = append(required, field.Flag)
			cmd.Use, cmd.Example = cmd.Use+" --"+field.Flag+" TEXT", cmd.Example+" --"+field.Flag+" "+sample
		}
	}
	flagsOf(cmd, c)
	if changes {
		f.named(cmd)
	}
	cmd.Args = exactly(words...)
	cmd.RunE = func(cmd *cobra.Command, given []string) error {
		subject := ""
		for i := range args {
			if err := (&argument{args[i]}).Set(given[i]); err != nil {
				return fmt.Errorf("%s %+.60q: %w", args[i].Arg, given[i], err)
			}
			if subject == "" {
				subject = args[i].Name + " " + given[i]
			}
		}
		for _, name := range required {
			if v := cmd.Flag(name); strings.TrimSpace(v.Value.String()) == "" {
				return fmt.Errorf("--%s is missing: %s", name, v.Usage)
			}
		}
		if !alone {
			f.inherit(cmd)
		}
		s, err := f.signed(cmd, changes)
		if err != nil {
			return err
		}
		answer, err := give[json.RawMessage](cmd, s, subject, c)
		if err != nil {
			return err
		}
		return f.say(cmd, sayings, c, answer)
	}
	return cmd
}

// flagsOf adds flags for a command's arguments, except some.
func flagsOf(cmd *cobra.Command, c operator.Command, except ...string) {
	for _, field := range operator.Fields(c) {
		if field.Arg != "" || slices.Contains(except, field.Name) {
			continue
		}
		flag := cmd.Flags().VarPF(&argument{field}, field.Flag, "", field.Help)
		if field.Value.Kind() == reflect.Bool {
			flag.NoOptDefVal = "true"
		}
	}
}

// word is a sample as a shell takes it.
func word(sample string) string {
	if strings.Contains(sample, " ") {
		return sample
	}
	return strings.Trim(sample, `"`)
}

// inherit reads the flags of a parent that name a shop.
func (f *shopFlags) inherit(cmd *cobra.Command) {
	for name, to := range map[string]*string{"url": &f.url, "stack": &f.stack, "region": &f.region,
		"profile": &f.profile, "role": &f.role} {
		*to = cmd.Flag(name).Value.String()
	}
}

// saying prints the answers to commands of one type.
type saying struct {
	of   reflect.Type
	line func(f *shopFlags, cmd *cobra.Command, c operator.Command, answer []byte) error
}

// says is a saying of a command C, which is answered with an A.
func says[C operator.Command, A any](text func(p *page, c C, a *A)) saying {
	return saying{reflect.TypeFor[C](), func(f *shopFlags, cmd *cobra.Command, c operator.Command,
		answer []byte) error {
		var a A
		if err := json.Unmarshal(answer, &a); err != nil {
			return faultError{fmt.Errorf("%w: %w", operator.ErrAnswer, err)}
		}
		return f.print(cmd, nil, &a, func(p *page) { text(p, c.(C), &a) })
	}}
}

// say prints an answer in the command's own words or, if it has no words, the answer's fields, one in a line.
func (f *shopFlags) say(cmd *cobra.Command, sayings []saying, c operator.Command, answer json.RawMessage) error {
	f.json = cmd.Flag("json").Value.String() == "true"
	for _, s := range sayings {
		if s.of == reflect.TypeOf(c) {
			return s.line(f, cmd, c, answer)
		}
	}
	return f.print(cmd, nil, answer, func(p *page) {
		var fields map[string]json.RawMessage
		if json.Unmarshal(answer, &fields) != nil {
			p.line("%s", printable(string(answer)))
		}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			p.row(name, strings.Trim(string(fields[name]), `"`))
		}
	})
}
