package dynamoledger

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"seckill/shared/adapter/ledger"
)

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

func list(texts []string) types.AttributeValue {
	l := &types.AttributeValueMemberL{Value: make([]types.AttributeValue, len(texts))}
	for i, s := range texts {
		l.Value[i] = text(s)
	}
	return l
}

// encodeValue writes an attribute: a string as S, an int64 as N, a []string as L, a ledger.Set as SS.
func encodeValue(v any) (types.AttributeValue, error) {
	switch v := v.(type) {
	case string:
		return text(v), nil
	case int64:
		return number(v), nil
	case []string:
		return list(v), nil
	case ledger.Set:
		return &types.AttributeValueMemberSS{Value: v}, nil
	}
	return nil, fmt.Errorf("a value of type %T", v)
}

func decodeValue(v types.AttributeValue) (any, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, nil
	case *types.AttributeValueMemberN:
		return strconv.ParseInt(v.Value, 10, 64)
	case *types.AttributeValueMemberSS:
		set := ledger.Set(v.Value)
		slices.Sort(set) // DynamoDB keeps no order
		return set, nil
	case *types.AttributeValueMemberL:
		texts := make([]string, len(v.Value))
		for i, entry := range v.Value {
			s, ok := entry.(*types.AttributeValueMemberS)
			if !ok {
				return nil, fmt.Errorf("an entry of type %T", entry)
			}
			texts[i] = s.Value
		}
		return texts, nil
	}
	return nil, fmt.Errorf("a value of type %T", v)
}

// encodeInto adds a row's attributes to out.
func encodeInto(out map[string]types.AttributeValue, row ledger.Row) error {
	for attr, v := range row {
		av, err := encodeValue(v)
		if err != nil {
			return fmt.Errorf("attribute %s: %w", attr, err)
		}
		out[attr] = av
	}
	return nil
}

// decodeRow reads a stored item; nil when there is none. An attribute that no row can have is an error that does not
// show its value, which may be an address.
func decodeRow(item map[string]types.AttributeValue) (ledger.Row, error) {
	if len(item) == 0 {
		return nil, nil
	}
	row := make(ledger.Row, len(item))
	for attr, av := range item {
		v, err := decodeValue(av)
		if err != nil {
			return nil, fmt.Errorf("dynamoledger: attribute %s is no text, integer, list or set of texts", attr)
		}
		row[attr] = v
	}
	return row, nil
}

func decodeRows(items []map[string]types.AttributeValue) ([]ledger.Row, error) {
	rows := make([]ledger.Row, len(items))
	for i, item := range items {
		row, err := decodeRow(item)
		if err != nil {
			return nil, err
		}
		rows[i] = row
	}
	return rows, nil
}
