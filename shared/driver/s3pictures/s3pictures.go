// Package s3pictures keeps pictures of items in a bucket of S3. In: a picture, or the name of one. Out: it is stored,
// or its bytes. It touches the bucket's keys below pictures/.
//
// It signs two plain requests with the SDK's signer: AWS's client of S3 would double the functions that link it.
package s3pictures

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/your-org/seckill/shared/seckill"
)

const (
	// limits of a request that S3 does not answer, or is too busy for: all are shorter than the 15 s of function shop
	tries   = 2
	timeout = 2 * time.Second // of one try
)

// Bucket keeps pictures in a bucket. It is safe for concurrent use.
type Bucket struct {
	cfg   aws.Config
	base  string // of keys' addresses
	clock seckill.Clock
	log   *slog.Logger
}

// New returns a store in a bucket of the configuration's region. log is for reads that S3 refuses.
func New(c aws.Config, bucket string, clock seckill.Clock, log *slog.Logger) *Bucket {
	base := fmt.Sprintf("https://%s.s3.%s.amazonaws.com", bucket, c.Region)
	if strings.HasPrefix(c.Region, "cn-") {
		base += ".cn"
	}
	if c.BaseEndpoint != nil { // a stand-in
		base = strings.TrimSuffix(*c.BaseEndpoint, "/") + "/" + bucket
	}
	return &Bucket{cfg: c, base: base, clock: clock, log: log}
}

// Put implements seckill.Pictures.
func (b *Bucket) Put(ctx context.Context, p *seckill.Picture) error {
	header := http.Header{"Content-Type": {seckill.PictureType(p.Name)}, "Cache-Control": {seckill.PictureControl}}
	status, _, err := b.ask(ctx, http.MethodPut, p.Name, header, p.Data)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("s3pictures: put: status %d", status)
	}
	return err
}

// Get implements seckill.Pictures. Of a key that is not there S3 says 403 to a role that may not list the bucket, and
// of every key to a role that may not read it: a line says so.
func (b *Bucket) Get(ctx context.Context, name string) ([]byte, error) {
	status, data, err := b.ask(ctx, http.MethodGet, name, http.Header{}, nil)
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusForbidden:
		b.log.WarnContext(ctx, "no such picture, or S3 lets this role read none", "picture", name)
		return nil, seckill.ErrNoPicture
	case status == http.StatusNotFound:
		return nil, seckill.ErrNoPicture
	case status != http.StatusOK:
		return nil, fmt.Errorf("s3pictures: get: status %d", status)
	}
	return data, nil
}

// ask gives a request, and again if it is not answered or S3 is too busy.
func (b *Bucket) ask(ctx context.Context, method, name string, header http.Header, body []byte) (status int,
	data []byte, err error) {
	for range tries {
		if ctx.Err() != nil {
			break
		}
		status, data, err = b.once(ctx, method, name, header, body)
		if err == nil && status < http.StatusInternalServerError {
			break
		}
	}
	return status, data, err
}

func (b *Bucket) once(ctx context.Context, method, name string, header http.Header, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, b.base+seckill.PicturePath+name, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	sum := sha256.Sum256(body)
	hash := hex.EncodeToString(sum[:])
	r.Header = header.Clone()
	r.Header.Set("X-Amz-Content-Sha256", hash)
	keys, err := b.cfg.Credentials.Retrieve(ctx)
	if err != nil {
		return 0, nil, err
	}
	err = v4.NewSigner().SignHTTP(ctx, keys, r, hash, "s3", b.cfg.Region, b.clock.Now(),
		func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	if err != nil {
		return 0, nil, err
	}
	answer, err := b.cfg.HTTPClient.Do(r)
	if err != nil {
		return 0, nil, fmt.Errorf("s3pictures: %s: %w", strings.ToLower(method), err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(io.LimitReader(answer.Body, seckill.MaxPictureSize+1))
	if err == nil && len(data) > seckill.MaxPictureSize {
		err = fmt.Errorf("s3pictures: larger than %d MiB", seckill.MaxPictureSize>>20)
	}
	return answer.StatusCode, data, err
}
