package dynamoledger

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/ledger"
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

// encodeValue encodes an attribute: string as S, int64 as N, []string as L, ledger.Set as SS.
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

// decodeValue decodes what encodeValue encodes; anything else becomes ledger.Foreign.
func decodeValue(v types.AttributeValue) any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		if n, err := strconv.ParseInt(v.Value, 10, 64); err == nil {
			return n
		}
	case *types.AttributeValueMemberSS:
		set := ledger.Set(v.Value)
		slices.Sort(set) // DynamoDB does not keep the order
		return set
	case *types.AttributeValueMemberL:
		texts := make([]string, len(v.Value))
		for i, entry := range v.Value {
			s, ok := entry.(*types.AttributeValueMemberS)
			if !ok {
				return ledger.Foreign{}
			}
			texts[i] = s.Value
		}
		return texts
	}
	return ledger.Foreign{}
}

// encodeInto adds a row's attributes to out.
func (h *home) encodeInto(out map[string]types.AttributeValue, row ledger.Row) error {
	for attr, v := range row {
		av, err := encodeValue(h.value(attr, v))
		if err != nil {
			return fmt.Errorf("attribute %s: %w", attr, err)
		}
		out[h.attr(attr)] = av
	}
	return nil
}

// decodeRow decodes a stored item into the row that the ledger wrote, nil without an item.
func (r *Rows) decodeRow(item map[string]types.AttributeValue) ledger.Row {
	if len(item) == 0 {
		return nil
	}
	row := make(ledger.Row, len(item))
	for attr, av := range item {
		row[attr] = decodeValue(av)
	}
	return r.restore(row)
}

func (r *Rows) decodeRows(items []map[string]types.AttributeValue) []ledger.Row {
	rows := make([]ledger.Row, len(items))
	for i, item := range items {
		rows[i] = r.decodeRow(item)
	}
	return rows
}
