package alipay

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/encoding/simplifiedchinese"

	"github.com/your-org/seckill/shared/seckill"
)

var _ seckill.Bills = (*Client)(nil)

// Limits of a bill. A line takes about 250 bytes, a tenth of that zipped, so two million lines fit.
const (
	MaxArchive = 64 << 20 // bytes of the ZIP, which is kept in memory
	// bytes of the file inside, which is streamed; archive/zip stops at the size that the ZIP declares
	MaxBill         = 512 << 20
	DownloadTimeout = 60 * time.Second // for downloading the ZIP
	maxBillFiles    = 16               // a real ZIP has two
)

// subNoBill is the suffix of the sub code for a missing bill: the gateway answers "isp.bill_not_exist", the
// documentation says BILL_NOT_EXIST.
const subNoBill = "bill_not_exist"

// Suffixes of the file names in the ZIP.
const (
	nameDetails  = "业务明细.csv"
	nameSummary  = "汇总).csv"
	nameAccounts = "账务明细.csv" // the account's own movements; some bills include them
)

// billContent is the biz_content of alipay.data.dataservice.bill.downloadurl.query.
type billContent struct {
	BillType string `json:"bill_type"`
	BillDate string `json:"bill_date"`
}

// Bill implements seckill.Bills with the trade bill ("业务明细"). It lists every trade of the seller, including those of
// other shops and apps.
func (c *Client) Bill(ctx context.Context, day string) (seckill.Bill, error) {
	if !seckill.ValidDay(day) {
		return seckill.Bill{}, fmt.Errorf("alipay: bill: %.40q is not a date: want 2006-01-02", day)
	}
	var a struct {
		result
		URL text `json:"bill_download_url"`
	}
	if err := c.call(ctx, MethodBill, day, billContent{BillType: "trade", BillDate: day}, &a); err != nil {
		return seckill.Bill{}, err
	}
	if a.Code == codeBusiness && strings.HasSuffix(strings.ToLower(string(a.SubCode)), subNoBill) {
		return seckill.Bill{}, fmt.Errorf("alipay: %s: %w", day, seckill.ErrNoBill)
	}
	if a.Code != codeSuccess {
		return seckill.Bill{}, a.fault(MethodBill, day)
	}
	archive, err := c.archive(ctx, string(a.URL))
	if err != nil {
		return seckill.Bill{}, fmt.Errorf("alipay: bill of %s: %w", day, err)
	}
	return readArchive(archive, day)
}

// archive downloads a bill. The URL works for 30 seconds for anyone who knows it, so no error contains it.
func (c *Client) archive(ctx context.Context, address string) ([]byte, error) {
	u, err := c.billURL(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, DownloadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, errors.New("download: no request can be made of its address")
	}
	// API Gateway returns binary bodies only if the first media type in Accept is a binary one. A fake gateway may run
	// behind API Gateway.
	req.Header.Set("Accept", "application/zip, */*")
	resp, err := c.download.Do(req)
	if err != nil {
		var named *url.Error
		if errors.As(err, &named) {
			err = named.Err
		}
		return nil, fmt.Errorf("download from %s: %w", u.Host, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxArchive+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("download from %s: %w", u.Host, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("download from %s: HTTP status %d", u.Host, resp.StatusCode)
	case len(body) > MaxArchive:
		return nil, fmt.Errorf("download from %s: longer than %d bytes", u.Host, MaxArchive)
	}
	return body, nil
}

// billURL parses the URL of a bill. It changes http to https, because Alipay's documentation shows http. The
// exception is a test gateway without TLS.
func (c *Client) billURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return nil, errors.New("bill_download_url: want an absolute https URL")
	}
	if u.Scheme == "http" && !strings.HasPrefix(c.gateway, "http:") {
		if u.Port() != "" {
			return nil, fmt.Errorf("bill_download_url: port %s of %s without TLS", u.Port(), u.Hostname())
		}
		u.Scheme = "https"
	}
	return u, nil
}

// readArchive reads the one details file in a ZIP.
func readArchive(archive []byte, day string) (seckill.Bill, error) {
	fail := func(err error) (seckill.Bill, error) {
		return seckill.Bill{}, fmt.Errorf("alipay: bill of %s: %w", day, err)
	}
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return fail(err)
	}
	if len(z.File) > maxBillFiles {
		return fail(fmt.Errorf("%d files", len(z.File)))
	}
	var details *zip.File
	for _, f := range z.File {
		switch name := fileName(f); {
		case strings.HasSuffix(name, nameSummary), strings.HasSuffix(name, nameAccounts), !strings.Contains(name, "明细"):
		case !strings.HasSuffix(name, nameDetails): // perhaps a part of the details
			return fail(fmt.Errorf("an unknown file %.80q", name))
		case details != nil:
			return fail(errors.New("two files of details"))
		default:
			details = f
		}
	}
	if details == nil {
		return fail(errors.New("no file of details"))
	}
	if details.UncompressedSize64 > MaxBill {
		return fail(fmt.Errorf("longer than %d bytes", MaxBill))
	}
	r, err := details.Open()
	if err != nil {
		return fail(err)
	}
	defer r.Close()
	bill, err := ParseBill(r, day)
	if err != nil {
		_, err = fail(err)
	}
	return bill, err
}

// fileName returns a name as UTF-8 with ASCII brackets: Alipay writes names in GBK.
func fileName(f *zip.File) string {
	name := f.Name
	if f.NonUTF8 && (!utf8.ValidString(name) || !strings.HasSuffix(name, ".csv") || !strings.Contains(name, "明细")) {
		if decoded, err := simplifiedchinese.GBK.NewDecoder().String(name); err == nil {
			name = decoded
		}
	}
	return asciiBrackets.Replace(name)
}
