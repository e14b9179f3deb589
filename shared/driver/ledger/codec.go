package ledger

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/your-org/seckill/shared/seckill"
)

// A codec writes a noun to a row of its table and reads it back, by the row tags of the fields of the noun's type:
//
//	Name string `row:"shopper_name,placed,opt,personal"`
//
// The name of the attribute comes first, then what is special about it: see the flags. "with=x" means that the row has
// it whenever it has the attribute x. Texts, numbers and flags are stored as such, times in milliseconds since 1970;
// forms lists the other types. What a row has besides, such as keys of indexes, follows from the noun: code writes it.
type codec[T any] struct {
	table string
	more  int // attributes besides those of T's fields

	once  sync.Once // a function makes, and links, only the codecs that it uses
	attrs []attr
	size  int // of a new row
}

type attr struct {
	name  string
	flags flags
	index []int // of the field
	form  form
	with  string // the attribute that it comes with; "" if it comes alone
	whole []int  // that attribute's field
}

type flags uint

const (
	key      flags = 1 << iota // part of the row's key: whoever writes the row makes it
	opt                        // missing while the field is empty
	placed                     // an order's: rejected orders never have it; missing once it is removed
	rejected                   // an order's: rejected orders alone have it
	later                      // code other than encode writes it
	sorted                     // a time, or a number in a key, as a text that sorts as it does
	seconds                    // a time in seconds since 1970
	personal                   // an order's: removed when its address is erased
)

var tagFlags = map[string]flags{"key": key, "opt": opt, "placed": placed, "rejected": rejected, "later": later,
	"sorted": sorted, "seconds": seconds, "personal": personal}

// form is how the values of one type are stored.
type form struct {
	write func(reflect.Value) any
	read  func(*decoder, string, reflect.Value)
}

// made returns the codec once it knows T's fields. It panics if T has a tag or a type that it does not know.
func (c *codec[T]) made() *codec[T] {
	c.once.Do(c.build)
	return c
}

func (c *codec[T]) build() {
	c.size = c.more + 1 // 1: the version
	all := forms()
	fields := reflect.VisibleFields(reflect.TypeFor[T]())
	for _, f := range fields {
		tag, tagged := f.Tag.Lookup("row")
		if !tagged {
			continue
		}
		words := strings.Split(tag, ",")
		a := attr{name: words[0], index: f.Index}
		for _, word := range words[1:] {
			with, is := strings.CutPrefix(word, "with=")
			if !is && tagFlags[word] == 0 {
				panic("ledger: " + f.Name + ": what is " + word + "?")
			}
			a.flags |= tagFlags[word]
			if is {
				i := slices.IndexFunc(c.attrs, func(a attr) bool { return a.name == with })
				a.with, a.whole = with, c.attrs[i].index
			}
		}
		a.form = formOf(all, f.Type, a.flags)
		c.attrs = append(c.attrs, a)
		if a.flags&(later|rejected) == 0 {
			c.size++
		}
	}
}

// named lists the attributes with all of these flags.
func (c *codec[T]) named(all flags) (names []string) {
	c.made()
	for i := range c.attrs {
		if c.attrs[i].flags&all == all {
			names = append(names, c.attrs[i].name)
		}
	}
	return names
}

// encode returns a noun's row, without the attributes that have a flag of omit.
func (c *codec[T]) encode(noun *T, omit flags) Row {
	c.made()
	row := make(Row, c.size)
	row["v"] = Version
	v := reflect.ValueOf(noun).Elem()
	for i := range c.attrs {
		a := &c.attrs[i]
		if a.flags&(omit|key|later) != 0 {
			continue
		}
		f := field(v, a.index)
		if a.flags&opt != 0 && empty(f) || a.with != "" && empty(field(v, a.whole)) {
			continue
		}
		row[a.name] = a.form.write(f)
	}
	return row
}

// decode reads a row that encode and later writes made.
func (c *codec[T]) decode(row Row) (T, error) {
	d := decode(c.table, row)
	noun := c.take(d)
	return noun, d.err
}

// take reads a noun from a row; d keeps the first error.
func (c *codec[T]) take(d *decoder) (noun T) {
	c.made()
	v := reflect.ValueOf(&noun).Elem()
	for i := range c.attrs {
		a := &c.attrs[i]
		needs := a.name
		if a.with != "" {
			needs = a.with
		}
		if a.with != "" || a.flags&(opt|placed|rejected|later) != 0 {
			if _, has := d.row[needs]; !has {
				continue
			}
		}
		a.form.read(d, a.name, field(v, a.index))
	}
	return noun
}

// field returns a field of the noun, or of what the noun embeds.
func field(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		v = v.Field(i)
	}
	return v
}

func empty(v reflect.Value) bool {
	if v.Kind() == reflect.Slice {
		return v.Len() == 0
	}
	return v.IsZero()
}

// at returns the address of a field of type T.
func at[T any](v reflect.Value) *T { return v.Addr().Interface().(*T) }

// forms returns the types that are not stored as their kind is. A function that has no codec does not link it.
func forms() map[reflect.Type]form {
	return map[reflect.Type]form{
		reflect.TypeFor[time.Time](): {func(v reflect.Value) any { return at[time.Time](v).UnixMilli() },
			func(d *decoder, name string, v reflect.Value) { *at[time.Time](v) = d.time(name) }},
		reflect.TypeFor[time.Duration](): {
			func(v reflect.Value) any { return at[time.Duration](v).Milliseconds() },
			func(d *decoder, name string, v reflect.Value) { v.SetInt(d.number(name) * int64(time.Millisecond)) }},
		reflect.TypeFor[map[string]int]():  {nil, decodeEntries},
		reflect.TypeFor[[]int]():           asText("a list of numbers", encodeUnits, decodeUnits),
		reflect.TypeFor[netip.Addr]():      asText("a network address", netip.Addr.String, netip.ParseAddr),
		reflect.TypeFor[seckill.Options](): asText("a list of options", seckill.Options.String, seckill.ParseOptions),
		reflect.TypeFor[seckill.Rules](): asText("a list of rules", seckill.Rules.String,
			func(s string) (seckill.Rules, error) { return seckill.ParseRules(s), nil }),
		reflect.TypeFor[[]seckill.Role](): asText("a list of roles", encodeRoles, decodeRoles),
		reflect.TypeFor[[]string](): {func(v reflect.Value) any { return slices.Clone(*at[[]string](v)) },
			func(d *decoder, name string, v reflect.Value) {
				list, ok := d.row[name].([]string)
				if !ok {
					d.fail(name, "a list")
				}
				*at[[]string](v) = list
			}},
		reflect.TypeFor[[]seckill.Difference](): asList("a list of differences", encodeDifference, decodeDifference),
		reflect.TypeFor[[]seckill.Change]():     asList("a list of changes", encodeChange, decodeChange),
	}
}

func formOf(all map[reflect.Type]form, t reflect.Type, is flags) form {
	switch isTime := t == reflect.TypeFor[time.Time](); {
	case is&seconds != 0 && isTime:
		return form{func(v reflect.Value) any { return at[time.Time](v).Unix() },
			func(d *decoder, name string, v reflect.Value) { *at[time.Time](v) = time.Unix(d.number(name), 0).UTC() }}
	case is&sorted != 0 && isTime:
		return form{func(v reflect.Value) any { return timeKey(*at[time.Time](v)) },
			func(d *decoder, name string, v reflect.Value) { *at[time.Time](v) = d.sortable(name) }}
	case is&sorted != 0:
		return form{nil, func(d *decoder, name string, v reflect.Value) { v.SetInt(int64(d.digits(name))) }}
	}
	if f, ok := all[t]; ok {
		return f
	}
	switch t.Kind() { //nolint:exhaustive // no other kind is stored
	case reflect.String:
		return form{func(v reflect.Value) any { return v.String() },
			func(d *decoder, name string, v reflect.Value) { v.SetString(d.text(name)) }}
	case reflect.Int, reflect.Int64:
		return form{func(v reflect.Value) any { return v.Int() },
			func(d *decoder, name string, v reflect.Value) { v.SetInt(d.number(name)) }}
	case reflect.Bool:
		return form{func(v reflect.Value) any { return number(v.Bool()) },
			func(d *decoder, name string, v reflect.Value) { v.SetBool(d.number(name) == 1) }}
	}
	panic(fmt.Sprintf("ledger: no row has a %s", t))
}

func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// asText is the form of a type that is stored as one text.
func asText[T any](want string, write func(T) string, read func(string) (T, error)) form {
	return form{func(v reflect.Value) any { return write(*at[T](v)) },
		func(d *decoder, name string, v reflect.Value) {
			value, err := read(d.text(name))
			if err != nil {
				d.fail(name, want)
			}
			*at[T](v) = value
		}}
}

// asList is the form of a slice that is stored as a list of texts.
func asList[T any](want string, write func(T) string, read func(string) (T, error)) form {
	return form{func(v reflect.Value) any {
		values := *at[[]T](v)
		list := make([]string, len(values))
		for i := range values {
			list[i] = write(values[i])
		}
		return list
	}, func(d *decoder, name string, v reflect.Value) {
		list, ok := d.row[name].([]string)
		if !ok {
			d.fail(name, "a list")
		}
		values := make([]T, len(list))
		for i := range list {
			var err error
			if values[i], err = read(list[i]); err != nil {
				d.fail(name, want)
			}
		}
		*at[[]T](v) = values
	}}
}
