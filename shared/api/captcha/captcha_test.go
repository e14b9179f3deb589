package captcha_test

import (
	"bytes"
	"image/png"
	"os"
	"testing"

	"github.com/your-org/seckill/shared/api/captcha"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/seckill"
)

// TestPictures: each is a small PNG with enough ink to be read, the same for the same seed and another for another.
func TestPictures(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for seed := range 200 {
		got := captcha.Painter{}.Paint(seckill.SumOf(seed), seed)
		m, err := png.Decode(bytes.NewReader(got))
		must.OK(t, err)
		dark := 0
		for y := range m.Bounds().Dy() {
			for x := range m.Bounds().Dx() {
				if r, _, _, _ := m.At(x, y).RGBA(); r < 0x4000 {
					dark++
				}
			}
		}
		// six characters have 7 to 17 dots of 25 pixels each
		if len(got) > seckill.MaxCaptcha || dark < 6*7*25 || dark > 6*17*25 {
			t.Errorf("seed %d: %d bytes, %d dark pixels of %v", seed, len(got), dark, m.Bounds())
		}
		if !bytes.Equal(got, captcha.Painter{}.Paint(seckill.SumOf(seed), seed)) {
			t.Errorf("seed %d: another picture", seed)
		}
		seen[string(got)] = true
		if name := os.Getenv("PICTURE"); name != "" && seed == 7 {
			must.OK(t, os.WriteFile(name, got, 0o600))
		}
	}
	if len(seen) != 200 {
		t.Errorf("%d pictures of 200 seeds", len(seen))
	}
}
