package s3pictures_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/your-org/seckill/shared/driver/s3pictures"
	"github.com/your-org/seckill/shared/drivertest/must"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// TestBucket: two signed requests of the bucket's own keys, a try more when S3 is too busy, and no picture where S3
// refuses to say whether there is one.
func TestBucket(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	kept, busy := map[string][]byte{}, 0
	s3 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		auth := r.Header.Get("Authorization")
		if !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=key/20261111/eu-west-1/s3/aws4_request, ") ||
			!strings.Contains(auth, "x-amz-content-sha256") {
			t.Errorf("%s %s: signed %q", r.Method, r.URL, auth)
		}
		if busy > 0 {
			busy--
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		data, known := kept[r.URL.Path]
		switch {
		case r.Method == http.MethodPut:
			if r.Header.Get("Content-Type") != "image/png" || r.Header.Get("Cache-Control") != seckill.PictureControl {
				t.Errorf("stored with %v", r.Header)
			}
			kept[r.URL.Path], _ = io.ReadAll(r.Body)
		case !known:
			w.WriteHeader(http.StatusForbidden)
		default:
			_, _ = w.Write(data)
		}
	}))
	defer s3.Close()
	b := s3pictures.New(aws.Config{Region: "eu-west-1", BaseEndpoint: &s3.URL, HTTPClient: s3.Client(),
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", "")}, "shop-pictures",
		memory.NewClock(time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)), slog.New(slog.NewTextHandler(&log, nil)))
	p := seckill.Picture{Name: strings.Repeat("a", 32) + ".png", Data: []byte("\x89PNG")}
	must.Is(t, seckill.ErrNoPicture, must.Err(b.Get(t.Context(), p.Name)), "before")
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), p.Name) {
		t.Errorf("S3 refuses, and the log has %s", &log)
	}
	for range 2 {
		busy = 1
		if err := b.Put(t.Context(), &p); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(kept["/shop-pictures/pictures/"+p.Name], p.Data) || len(kept) != 1 {
		t.Errorf("stored %q", kept)
	}
	if got, err := b.Get(t.Context(), p.Name); err != nil || !bytes.Equal(got, p.Data) {
		t.Errorf("got %q, %v", got, err)
	}
	busy = 2
	if err := b.Put(t.Context(), &p); err == nil || !strings.Contains(err.Error(), "status 503") {
		t.Errorf("always busy: %v", err)
	}
	if busy != 0 {
		t.Errorf("%d tries are left", busy)
	}
	kept["/shop-pictures/pictures/"+p.Name] = make([]byte, seckill.MaxPictureSize+1)
	if _, err := b.Get(t.Context(), p.Name); err == nil {
		t.Error("a picture that is too large is served")
	}
}
