package memory_test

import (
	"errors"
	"testing"

	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestPicturesAreBounded: what does not fit is refused, and what is there stays.
func TestPicturesAreBounded(t *testing.T) {
	t.Parallel()
	var m memory.Pictures
	full := seckill.Picture{Name: "full", Data: make([]byte, 64<<20)}
	if err := errors.Join(m.Put(t.Context(), &full), m.Put(t.Context(), &full)); err != nil {
		t.Fatal(err)
	}
	if err := m.Put(t.Context(), &seckill.Picture{Name: "more", Data: []byte("x")}); err == nil {
		t.Error("it takes any number")
	}
	if _, err := m.Get(t.Context(), "full"); err != nil {
		t.Error(err)
	}
}
