package redisconn

import "fmt"

// value checks that a reply is what redisstock.Runner promises: nil, int64, string or []any of these. The client
// library reads RESP2 into exactly these; an error inside a list is the only other thing that it can hold.
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
