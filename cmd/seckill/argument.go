package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	"github.com/your-org/seckill/shared/api/operator"
)

// wantedOf says what a flag of a type takes.
var wantedOf = map[string]string{"int": "a whole number", "int64": "a whole number",
	"uint16": "a whole number of 0 to 65535", "uint64": "a whole number of 0 or more", "float64": "a number",
	"duration": "a duration such as 30s", "bool": "true or false"}

// argument is a flag, or an argument, of a staff command.
type argument struct{ operator.Field }

// String returns the value's text, "" if there is none.
func (a *argument) String() string {
	if !a.Value.IsValid() || a.Value.IsZero() {
		return ""
	}
	return fmt.Sprint(a.Value.Interface())
}

// Set reads a text. What is neither a text, a time nor a number is JSON.
func (a *argument) Set(text string) error {
	switch {
	case a.Value.Type() == reflect.TypeFor[time.Time]():
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return fmt.Errorf("want a time such as 2026-11-11T02:00:00Z")
		}
		a.Value.Set(reflect.ValueOf(at))
	case a.Value.Kind() == reflect.String:
		a.Value.SetString(text)
	default:
		if json.Unmarshal([]byte(text), a.Value.Addr().Interface()) != nil {
			return fmt.Errorf("want %s", wantedOf[a.Type()])
		}
	}
	if !a.OK() {
		return fmt.Errorf("want %s", a.Rule.Words)
	}
	return nil
}

// Type names what it takes, for the help.
func (a *argument) Type() string {
	switch a.Value.Kind() {
	case reflect.Bool, reflect.Int:
		return a.Value.Kind().String()
	}
	return "string"
}
