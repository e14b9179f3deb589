package operator

import (
	"cmp"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// Command is something that staff can do. The fields of its type are its arguments (Field); what executes it calls its
// method Do.
type Command interface {
	Spec() Spec
	given() *Given
}

// Spec says what a command is.
type Spec struct {
	Name  string         // as events have it
	Path  string         // as the tool has it, such as "items stop"; "" if the tool does not give it by itself
	Roles []seckill.Role // who may give it, the least role first: the tool asks for that role
	In    string         // the short name of the function that executes it
	Short string         // what it does, in a line
	Long  string         // further help
	Quiet bool           // it is given each second, so only failures have a line in the log
	File  bool           // it has a file, and may be large
	Money bool           // it moves money or decides about it: in a browser it wants a fresh sign-in
}

// Given is a part of every command: its name, and who gives it.
type Given struct {
	Command string `json:"command"`
	Who     string `json:"who"` // set by the back office in a stack, and by the caller in a local system

	answers bool // whether the caller may see the answers to questions; no request can set it
}

func (g *Given) given() *Given { return g }

// itself is the short name of the function that the office runs in. It executes the commands about the audit log,
// sessions, pictures, and a running sale.
const itself = "admin"

// all are the commands, in the order of the docs; registry.go has them.
var all []Command

// Roles of a command, the least of them first.
var (
	everybody   = seckill.Roles()
	editors     = []seckill.Role{seckill.RoleEditor}
	operators   = []seckill.Role{seckill.RoleOperator}
	seeShoppers = []seckill.Role{seckill.RoleOperator, seckill.RoleAuditor}
	financiers  = []seckill.Role{seckill.RoleFinance}
	seeMoney    = []seckill.Role{seckill.RoleFinance, seckill.RoleAuditor}
	auditors    = []seckill.Role{seckill.RoleAuditor}
)

// find returns a new command of a name, or nil if the list has no such command.
func find(list []Command, name string) Command {
	for _, c := range list {
		if c.Spec().Name == name {
			made, _ := reflect.New(reflect.TypeOf(c).Elem()).Interface().(Command)
			return made
		}
	}
	return nil
}

// New returns a new command of a name, or nil if there is no such command.
func New(name string) Command { return find(all, name) }

// All returns the commands, in the order of the docs.
func All() []Command { return slices.Clone(all) }

// Names returns the names of all commands.
func Names() []string { return names(all) }

func names(list []Command) (names []string) {
	for _, c := range list {
		names = append(names, c.Spec().Name)
	}
	return names
}

// May reports whether a role may give a command. Nobody may give a command that does not exist.
func May(r seckill.Role, name string) bool {
	c := find(all, name)
	return c != nil && slices.Contains(c.Spec().Roles, r)
}

// LeastRole returns the least role that may give a command; ok is false if there is no command of that name.
func LeastRole(name string) (r seckill.Role, ok bool) {
	c := find(all, name)
	if c == nil {
		return "", false
	}
	return c.Spec().Roles[0], true
}

// ReadsOnly reports whether a command changes nothing: a viewer or an auditor may give it.
func ReadsOnly(c Command) bool {
	roles := c.Spec().Roles
	return slices.Contains(roles, seckill.RoleViewer) || slices.Contains(roles, seckill.RoleAuditor)
}

// Field is an argument of a command, as its field's tags say: json, its name, with omitempty or omitzero if the command
// may lack it; is, the rule of its value; arg, the name that the tool's help has for it, else it is a flag; flag, the
// flag's name if it is another; help; sample, its value in an example, as JSON; log:"-", it has no place in the audit
// log.
type Field struct {
	Name   string
	Arg    string
	Flag   string
	Help   string
	Sample string // as JSON
	Rule   Rule
	Must   bool
	Silent bool
	Value  reflect.Value
}

// Fields returns a command's arguments, which can be set.
func Fields(c Command) (list []Field) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" { // Given
			continue
		}
		rule := rules[f.Tag.Get("is")]
		sample := cmp.Or(f.Tag.Get("sample"), rule.Sample, "a test")
		if f.Type.Kind() == reflect.String {
			sample = strconv.Quote(sample)
		}
		list = append(list, Field{Name: name, Arg: f.Tag.Get("arg"), Help: f.Tag.Get("help"), Sample: sample,
			Flag: cmp.Or(f.Tag.Get("flag"), strings.ReplaceAll(name, "_", "-")), Rule: rule, Must: rest == "",
			Silent: f.Tag.Get("log") == "-", Value: v.Field(i)})
	}
	return list
}

// given reports whether the command has the argument.
func (f *Field) given() bool {
	if k := f.Value.Kind(); k == reflect.Slice {
		return f.Value.Len() > 0
	}
	return !f.Value.IsZero()
}

// OK reports whether the argument's value keeps its rule.
func (f *Field) OK() bool { return f.Rule.ok == nil || f.Rule.ok(fmt.Sprint(f.Value.Interface())) }

// check returns CodeInvalid with the first argument that the command lacks, or whose value breaks its rule.
func check(c Command) error {
	if !validWho(c.given().Who) {
		return seckill.Invalid("who", whoWanted)
	}
	for _, f := range Fields(c) {
		if given := f.given(); f.Must && !given || given && !f.OK() {
			return seckill.Invalid(f.Name, f.Rule.want)
		}
	}
	return nil
}

// logged is an argument that itself chooses what the audit log has of it.
type logged interface{ attrs() []slog.Attr }

// attrs returns the audit log's fields of a command: who, its name, and its arguments. It truncates texts, because
// invalid commands are logged, too. It omits the operator's reason, which the order's history records.
func attrs(c Command) []slog.Attr {
	return append([]slog.Attr{slog.String("who", short(c.given().Who)), slog.String("command",
		short(c.given().Command))}, arguments(c)...)
}

func arguments(c Command) (what []slog.Attr) {
	for _, f := range Fields(c) {
		if f.Silent || !f.given() {
			continue
		}
		switch v := f.Value.Interface().(type) {
		case logged:
			what = append(what, v.attrs()...)
		case string:
			what = append(what, slog.String(f.Name, short(v)))
		case int:
			what = append(what, slog.Int(f.Name, v))
		case bool:
			what = append(what, slog.Bool(f.Name, v))
		case time.Time:
			what = append(what, slog.String(f.Name, v.UTC().Format(time.RFC3339)))
		}
	}
	return what
}

// reason returns the operator's reason, "" if the command has no reason.
func reason(c Command) string {
	if r, ok := c.(interface{ reason() string }); ok {
		return r.reason()
	}
	for _, f := range Fields(c) {
		if f.Name == "why" {
			return f.Value.String()
		}
	}
	return ""
}

// Sample returns the body of a request to give a command, with the arguments that it must have, as help and tests show
// it, or "" if there is no command of that name.
func Sample(name string) string {
	c := New(name)
	if c == nil {
		return ""
	}
	args := []byte(`{"operator":{"command":` + strconv.Quote(name))
	for _, f := range Fields(c) {
		if f.Must {
			args = fmt.Appendf(args, ",%q:%s", f.Name, f.Sample)
		}
	}
	return string(args) + "}}"
}
