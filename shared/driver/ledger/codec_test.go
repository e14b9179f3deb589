package ledger

import (
	"encoding/json"
	"flag"
	"hash/crc32"
	"net/netip"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// fill sets every field of a noun to a value that depends on the field's name.
func fill(v reflect.Value) {
	at := time.Date(2026, 11, 11, 2, 0, 0, 0, time.UTC)
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		n := int(crc32.ChecksumIEEE([]byte(name)) % 100_000)
		switch p := f.Addr().Interface().(type) {
		case *time.Time:
			*p = at.Add(time.Duration(n) * time.Second)
		case *netip.Addr:
			*p = netip.MustParseAddr("2001:db8::7")
		case *seckill.Options:
			*p = seckill.Options{{Name: "颜色", Value: "黑"}, {Name: "b", Value: "c"}}
		case *[]seckill.Change:
			*p = []seckill.Change{{State: seckill.PendingPayment, At: at},
				{State: seckill.Paid, At: at, Cause: "notify x"}}
		case *[]int:
			*p = []int{n, n + 1}
		case *seckill.State:
			*p = seckill.Expired
		case *seckill.Rules:
			*p = seckill.RuleFast | seckill.RuleAgent
		case *[]string:
			*p = []string{"7", "8"}
		case *[]seckill.Role:
			*p = []seckill.Role{"a", "b"}
		case *[]seckill.Difference:
			*p = []seckill.Difference{{Kind: "k", Order: "o", TradeNo: "t", RefundID: "r", Here: 5, There: 6, Line: 7,
				Why: "w"}, {}}
		case *time.Duration:
			*p = time.Duration(n) * time.Second
		default:
			switch f.Kind() {
			case reflect.Struct:
				fill(f)
			case reflect.String:
				f.SetString("a " + name)
			case reflect.Int, reflect.Int64:
				f.SetInt(int64(n))
			case reflect.Bool:
				f.SetBool(true)
			default:
				panic(f.Type())
			}
		}
	}
}

// whole returns a noun without an empty field.
func whole[T any]() (noun T) {
	fill(reflect.ValueOf(&noun).Elem())
	return noun
}

// stored lists rows of every table that has a codec: of a noun without an empty field, and of an empty one, by state
// where the row depends on it.
func stored() (lines string) {
	add := func(name string, row Row) {
		b, err := json.Marshal(row)
		if err != nil {
			panic(err)
		}
		lines += name + ": " + string(b) + "\n"
	}
	for _, info := range seckill.States {
		full, bare := whole[seckill.Order](), seckill.Order{}
		full.State, bare.State = info.State, info.State
		add("orders "+string(info.State), encodeOrder(&full))
		add("orders "+string(info.State)+", empty", encodeOrder(&bare))
	}
	for _, state := range []seckill.PaymentState{seckill.Captured, seckill.RefundDue, seckill.RefundDone} {
		full, bare := whole[seckill.Payment](), seckill.Payment{State: state}
		full.State = state
		add("payments "+string(state), encodePayment(&full))
		add("payments "+string(state)+", empty", encodePayment(&bare))
	}
	both(add, encodeDelivery)
	both(add, encodeActivity)
	both(add, encodeBlock)
	both(add, by(unitCodec))
	both(add, by(returnCodec))
	both(add, by(countedCodec))
	both(add, by(actCodec))
	both(add, by(sessionCodec))
	both(add, by(proposalCodec))
	both(add, by(questionCodec))
	both(add, by(notificationCodec))
	both(add, by(reconciliationCodec))
	return lines
}

func by[T any](c *codec[T]) func(*T) Row { return func(noun *T) Row { return c.encode(noun, 0) } }

func both[T any](add func(string, Row), encode func(*T) Row) {
	full, bare := whole[T](), *new(T)
	name := reflect.TypeFor[T]().Name()
	add(name, encode(&full))
	add(name+", empty", encode(&bare))
}

// TestRowsStayAsTheyAre holds what encoders write: rows of older releases have to be read, and an attribute that an
// order loses when it is rejected is seen by no other test. -update writes it.
func TestRowsStayAsTheyAre(t *testing.T) {
	const file = "testdata/rows.txt"
	got := stored()
	if flag.Lookup("update").Value.String() == "true" {
		must.OK(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want := must.Get(os.ReadFile(file))
	must.Equal(t, string(want), got, "rows are not as in", file)
}

// TestEveryFieldIsRead reads a row with every attribute: all that later writes add, and all that belongs to another
// state.
func TestEveryFieldIsRead(t *testing.T) {
	read(t, orderCodec)
	read(t, paymentCodec)
	read(t, unitCodec)
	read(t, returnCodec)
	read(t, countedCodec)
	read(t, actCodec)
	read(t, sessionCodec)
	read(t, proposalCodec)
	read(t, questionCodec)
	read(t, notificationCodec)
	read(t, reconciliationCodec)
	read(t, activityCodec)
	read(t, deliveryCodec, "GivenUp")
	read(t, blockCodec, "Until")
}

// read checks that a codec reads every field but these, which code reads.
func read[T any](t *testing.T, c *codec[T], but ...string) {
	t.Helper()
	noun, row := whole[T](), Row{"v": Version}
	v := reflect.ValueOf(&noun).Elem()
	for i := range c.made().attrs {
		a := &c.attrs[i]
		if row[a.name] = "7"; a.form.write != nil {
			row[a.name] = a.form.write(field(v, a.index))
		} else {
			field(v, a.index).SetInt(7) // a number in a key
		}
	}
	got, err := c.decode(row)
	diff := cmp.Diff(noun, got, cmpopts.EquateComparable(netip.Addr{}), cmpopts.IgnoreFields(noun, but...))
	if diff != "" || err != nil {
		t.Errorf("%s: %v; got (+), want (-):\n%s", c.table, err, diff)
	}
}

// TestGivenIsErased: nothing of what is known of a shopper with a purchase outlives the address, and no rejected order
// has it.
func TestGivenIsErased(t *testing.T) {
	given, erased := &codec[seckill.Given]{table: TableOrders}, orderCodec.named(placed|personal)
	must.Equal(t, reflect.TypeFor[seckill.Given]().NumField(), len(erased), "Given has a field that is not erased")
	must.Equal(t, given.named(0), erased, "Given is erased")
}

func TestUnknownTagsAreRefused(t *testing.T) {
	for name, make := range map[string]func(){
		"a misspelt flag": func() {
			(&codec[struct {
				A string `row:"a,optt"`
			}]{}).made()
		},
		"a type without a form": func() {
			(&codec[struct {
				A float64 `row:"a"`
			}]{}).made()
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			make()
		}()
	}
}

func BenchmarkOrder(b *testing.B) {
	o := whole[seckill.Order]()
	o.State = seckill.PendingPayment
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			encodeOrder(&o)
		}
	})
	row := encodeOrder(&o)
	row["id"] = o.ID
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			must.Get(decodeOrder(row))
		}
	})
}
