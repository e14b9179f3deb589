package bus

import (
	"encoding/base64"
	"testing"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// TestSign signs the example of the specification (Standard Webhooks 1.0, README of its libraries).
func TestSign(t *testing.T) {
	t.Parallel()
	key, err := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	const want = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	must.Equal(t, want,
		sign([][]byte{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`)))
}
