package dynamoledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// expression collects the names and values of one write's expressions. Every name is a placeholder, because many of
// ours (state, user, count, units) are reserved words in DynamoDB.
type expression struct {
	home   *home
	names  map[string]string
	values map[string]types.AttributeValue
	err    error // the first value that cannot be written
}

func (e *expression) name(attr string) string {
	if e.names == nil {
		e.names = map[string]string{}
	}
	p := "#" + strconv.Itoa(len(e.names))
	e.names[p] = e.home.attr(attr)
	return p
}

func (e *expression) value(v any) string {
	av, err := encodeValue(v)
	if err != nil && e.err == nil {
		e.err = err
	}
	if e.values == nil {
		e.values = map[string]types.AttributeValue{}
	}
	p := ":" + strconv.Itoa(len(e.values))
	e.values[p] = av
	return p
}

// condition encodes conditions; it returns nil without conditions.
func (e *expression) condition(conds []ledger.Cond) *string {
	if len(conds) == 0 {
		return nil
	}
	parts := make([]string, len(conds))
	for i, c := range conds {
		parts[i] = e.cond(c)
	}
	return aws.String(strings.Join(parts, " AND "))
}

func (e *expression) cond(c ledger.Cond) string {
	switch c.Kind {
	case ledger.CondAbsent:
		return "attribute_not_exists(" + e.name(e.home.PK) + ")"
	case ledger.CondEq:
		return e.name(c.Attr) + " = " + e.value(e.home.value(c.Attr, c.Value))
	case ledger.CondAtMost:
		attr := e.name(c.Attr)
		atMost := attr + " <= " + e.value(c.Value)
		if n, _ := c.Value.(int64); n < 0 {
			return atMost // false for a missing attribute, which counts as 0
		}
		return "(attribute_not_exists(" + attr + ") OR " + atMost + ")"
	default: // CondHas: CheckWrite allows no other kind. contains alone would also search strings and lists.
		attr := e.name(c.Attr)
		return "attribute_type(" + attr + ", " + e.value("SS") + ") AND contains(" + attr + ", " + e.value(c.Value) +
			")"
	}
}

// update encodes an update's changes.
func (e *expression) update(w *ledger.Write) *string {
	var set, add, del, remove []string
	for attr, v := range w.Set {
		set = append(set, e.name(attr)+" = "+e.value(e.home.value(attr, v)))
	}
	for attr, entries := range w.Append {
		p := e.name(attr)
		set = append(set, p+" = list_append(if_not_exists("+p+", "+e.value([]string{})+"), "+e.value(entries)+")")
	}
	for attr, n := range w.Add {
		add = append(add, e.name(attr)+" "+e.value(n))
	}
	for attr, members := range w.AddSet {
		add = append(add, e.name(attr)+" "+e.value(members))
	}
	for attr, members := range w.DelSet {
		del = append(del, e.name(attr)+" "+e.value(members))
	}
	for _, attr := range w.Remove {
		remove = append(remove, e.name(attr))
	}
	clauses := map[string][]string{"SET ": set, "ADD ": add, "DELETE ": del, "REMOVE ": remove}
	var parts []string
	for _, verb := range slices.Sorted(maps.Keys(clauses)) {
		if c := clauses[verb]; len(c) > 0 {
			parts = append(parts, verb+strings.Join(c, ", "))
		}
	}
	return aws.String(strings.Join(parts, " "))
}

// item encodes one write of a transaction.
func (r *Rows) item(w *ledger.Write) (types.TransactWriteItem, error) {
	var none types.TransactWriteItem
	h, err := r.home(w.Table)
	if err == nil {
		err = h.CheckWrite(w)
	}
	if err != nil {
		return none, err
	}
	e := expression{home: h}
	const old = types.ReturnValuesOnConditionCheckFailureAllOld
	key, name, condition := h.key(w.Key), r.name(w.Table), e.condition(w.If)
	var out types.TransactWriteItem
	switch w.Op {
	case ledger.OpPut:
		out.Put = &types.Put{TableName: name, Item: key, ConditionExpression: condition,
			ReturnValuesOnConditionCheckFailure: old,
			ExpressionAttributeNames:            e.names, ExpressionAttributeValues: e.values}
		err = h.encodeInto(key, w.Row)
	case ledger.OpUpdate:
		change := e.update(w)
		out.Update = &types.Update{TableName: name, Key: key, UpdateExpression: change, ConditionExpression: condition,
			ReturnValuesOnConditionCheckFailure: old, ExpressionAttributeNames: e.names,
			ExpressionAttributeValues: e.values}
	case ledger.OpDelete:
		out.Delete = &types.Delete{TableName: name, Key: key, ConditionExpression: condition,
			ReturnValuesOnConditionCheckFailure: old, ExpressionAttributeNames: e.names,
			ExpressionAttributeValues: e.values}
	default: // OpCheck: CheckWrite allows no other kind
		out.ConditionCheck = &types.ConditionCheck{TableName: name, Key: key, ConditionExpression: condition,
			ReturnValuesOnConditionCheckFailure: old, ExpressionAttributeNames: e.names,
			ExpressionAttributeValues: e.values}
	}
	if err == nil {
		err = e.err
	}
	if err != nil {
		return none, fmt.Errorf("dynamoledger: %s %s/%s: %w", w.Table, w.PK, w.SK, err)
	}
	return out, nil
}
