package operator

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/api/cover"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

func encoded(t *testing.T, encode func(*bytes.Buffer, image.Image) error, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, encode(&b, m))
	return b.Bytes()
}

// counting counts the pictures that are stored.
type counting struct {
	memory.Pictures
	n int
}

func (c *counting) Put(ctx context.Context, p *seckill.Picture) error {
	c.n++
	return c.Pictures.Put(ctx, p)
}

// TestPicturesAreRefusedOrCleaned: what is not a picture, or too large for a function, is refused beside its field, and
// nothing is stored; what is one is stored without what its camera wrote.
func TestPicturesAreRefusedOrCleaned(t *testing.T) {
	t.Parallel()
	asPNG := func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }
	asJPEG := func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }
	small := image.NewPaletted(image.Rect(0, 0, 30, 20), color.Palette{color.Black, color.White})
	photo := encoded(t, asJPEG, small)
	bomb := encoded(t, asPNG, image.NewGray(image.Rect(0, 0, 1, 1)))
	binary.BigEndian.PutUint32(bomb[16:], 30_000)
	binary.BigEndian.PutUint32(bomb[20:], 30_000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	noise := image.NewNRGBA64(image.Rect(0, 0, 600, 800))
	random := rand.NewChaCha8([32]byte{})
	_, _ = random.Read(noise.Pix)
	exif := []byte("Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08\x00\x00 31.2304N 121.4737E")
	located := append([]byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(exif) + 2)}, append(exif, photo[2:]...)...)
	store := &counting{}
	serve := Serve(slog.New(slog.DiscardHandler), NewPictureHandler(store))
	give := func(data []byte) string {
		t.Helper()
		answer, err := serve(t.Context(), []byte(`{"operator":{"command":"picture","who":"ann","data":"`+
			base64.StdEncoding.EncodeToString(data)+`"}}`))
		must.OK(t, err)
		return string(answer)
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a GIF that is named .jpg", encoded(t, func(b *bytes.Buffer, m image.Image) error {
			return gif.Encode(b, m, nil)
		}, small), "neither a JPEG nor a PNG picture"},
		{"a bomb of 30000 by 30000 pixels", bomb, "30000 by 30000 pixels"},
		{"a JPEG that ends early", photo[:len(photo)-20], "damaged"},
		{"SVG with a script", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>`),
			"neither a JPEG nor a PNG picture"},
		{"noise that no encoding makes small", encoded(t, asPNG, noise), "larger than 3.5 MiB"},
		{"a byte too many", make([]byte, cover.Upload.Size+1), "larger than 3.5 MiB"},
		{"10 MB", make([]byte, 10_000_000), `"code":"body_too_large"`},
		{"more pixels than a function can make", encoded(t, asPNG, image.NewGray(image.Rect(0, 0, 4000, 2001))),
			"4000 by 2001 pixels"},
	} {
		if got := give(c.data); !strings.Contains(got, c.want) || !strings.Contains(got, `"problem":`) || store.n > 0 ||
			!strings.Contains(c.want, "code") && !strings.Contains(got, `"faults":[{"field":"data",`) {
			t.Errorf("%s: %.300s, %d stored", c.name, got, store.n)
		}
	}
	got := give(located)
	if !strings.Contains(got, `"width":30,"height":20,`) || store.n != 1 {
		t.Fatalf("a photograph: %s", got)
	}
	name := got[strings.Index(got, seckill.PicturePath)+len(seckill.PicturePath):][:36]
	if data, err := store.Get(t.Context(), name); err != nil || bytes.Contains(data, []byte("121.4737E")) ||
		bytes.Contains(data, []byte("Exif")) {
		t.Errorf("it has where it was made: %q, %v", data, err)
	}
	if strings.Contains(got, base64.StdEncoding.EncodeToString(located)[:40]) || give(located) != got {
		t.Errorf("again: %s", got)
	}
}
