package main

import (
	"bytes"
	"image"
	"image/png"
	"path/filepath"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// TestAPictureIsMadeAndShown: what the command puts into the folder is shown, and nothing else of the folder.
func TestAPictureIsMadeAndShown(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	must.OK(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 30, 20))))
	file := written(t, "tea.jpg", b.Bytes()) // the name says nothing
	folder := filepath.Dir(written(t, "secret.txt", []byte("secret")))
	for range 2 {
		code, stdout, stderr := command(t, "items", "picture", file, "--to", folder)
		if code != exitOK || !strings.Contains(stdout, ".png (30 by 20, 1 KiB)") {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
	}
	_, stdout, _ := command(t, "items", "picture", file, "--to", folder)
	path := find(t, stdout, `^(/pictures/[0-9a-f]{32}\.png) `)
	svg := written(t, "a.png", []byte("<svg>"))
	refused(t, exitUsage, "neither a JPEG nor a PNG", "items", "picture", svg, "--to", folder)
	refused(t, exitUsage, "neither a JPEG nor a PNG", "items", "picture", svg)
	started(t, noEnv, func(printed string) {
		base := find(t, printed, `(?m)^  S=(\S+)$`)
		if status, body := get(t, base+path, ""); status != 200 || !strings.HasPrefix(body, "\x89PNG") {
			t.Errorf("%s: %d", path, status)
		}
		for _, other := range []string{"/pictures/secret.txt", "/pictures/..%2fsecret.txt",
			"/pictures/" + strings.Repeat("0", 32) + ".png"} {
			if status, body := get(t, base+other, ""); status != 404 || strings.Contains(body, "secret\n") {
				t.Errorf("%s: %d %s", other, status, body)
			}
		}
		red := image.NewGray(image.Rect(0, 0, 40, 40))
		red.Pix[0] = 200
		b.Reset()
		must.OK(t, png.Encode(&b, red))
		code, stdout, stderr := command(t, "items", "picture", written(t, "red.png", b.Bytes()), "--url", base)
		given := find(t, stdout, `^(/pictures/[0-9a-f]{32}\.png) \(40 by 40`)
		if status, _ := get(t, base+given, ""); code != exitOK || status != 200 {
			t.Errorf("given to the shop: exit %d, %d\n%s%s", code, status, stdout, stderr)
		}
	}, "--pictures", folder)
}
