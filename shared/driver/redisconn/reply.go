package redisconn

import "fmt"

// value checks that a reply has the types that redisstock.Runner guarantees: nil, int64, string or []any of these.
// The client library decodes RESP2 into exactly these, except for an error inside a list.
func value(v any) (any, error) {
	switch v := v.(type) {
	case nil, int64, string:
		return v, nil
	case error:
		return nil, v
	case []any:
		for _, e := range v {
			if _, err := value(e); err != nil {
				return nil, err
			}
		}
		return v, nil
	}
	return nil, fmt.Errorf("redis: a reply of type %T", v)
}
