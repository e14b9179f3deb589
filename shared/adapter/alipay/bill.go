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

// Limits of a bill. A line takes about 250 bytes, a tenth of it zipped: these hold two million lines.
const (
	MaxArchive = 64 << 20 // bytes of the ZIP, which is held in memory
	// bytes of the file in it, which is read in a stream; archive/zip gives no more than the ZIP says
	MaxBill         = 512 << 20
	DownloadTimeout = 60 * time.Second // of the ZIP
	maxBillFiles    = 16               // a real ZIP has two
)

// subNoBill is how the sub code ends when there is no bill: "isp.bill_not_exist" is what the gateway answers,
// BILL_NOT_EXIST what the call's page says.
const subNoBill = "bill_not_exist"

// Names of the files in the ZIP end so.
const (
	nameDetails  = "业务明细.csv"
	nameSummary  = "汇总).csv"
	nameAccounts = "账务明细.csv" // the account's own movements, which some bills have beside
)

// billContent is the biz_content of alipay.data.dataservice.bill.downloadurl.query.
type billContent struct {
	BillType string `json:"bill_type"`
	BillDate string `json:"bill_date"`
}

// Bill implements seckill.Bills with the bill of trades ("业务明细"): the day's lines of details. It has every trade of the
// seller, also those of other shops and apps.
func (c *Client) Bill(ctx context.Context, day string) (seckill.Bill, error) {
	if !seckill.ValidDay(day) {
		return seckill.Bill{}, fmt.Errorf("alipay: bill: %.40q is not a date: want 2006-01-02", day)
	}
	var a struct {
		result
		URL string `json:"bill_download_url"`
	}
	if err := c.call(ctx, MethodBill, day, billContent{BillType: "trade", BillDate: day}, &a); err != nil {
		return seckill.Bill{}, err
	}
	if a.Code == codeBusiness && strings.HasSuffix(strings.ToLower(a.SubCode), subNoBill) {
		return seckill.Bill{}, fmt.Errorf("alipay: %s: %w", day, seckill.ErrNoBill)
	}
	if a.Code != codeSuccess {
		return seckill.Bill{}, a.fault(MethodBill, day)
	}
	archive, err := c.archive(ctx, a.URL)
	if err != nil {
		return seckill.Bill{}, fmt.Errorf("alipay: bill of %s: %w", day, err)
	}
	return readArchive(archive, day)
}

// archive downloads a bill. Whoever knows its address can do so for 30 seconds, so no error names the address.
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
	// API Gateway, before a fake gateway, gives bytes only to who asks for them first
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

// billURL reads the address of a bill. It is asked over HTTPS, also where Alipay writes http (its page's example does):
// only a gateway that is itself without TLS, a test's, may have its bills so.
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

// readArchive reads the one file of details in a ZIP.
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
		case strings.HasSuffix(name, nameSummary), strings.HasSuffix(name, nameAccounts):
		case !strings.HasSuffix(name, nameDetails):
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
		return fail(err)
	}
	return bill, nil
}

// fileName returns a name as text, with ASCII brackets: Alipay writes names in GBK.
func fileName(f *zip.File) string {
	name := f.Name
	if f.NonUTF8 && (!utf8.ValidString(name) || !strings.HasSuffix(name, ".csv") || !strings.Contains(name, "明细")) {
		if decoded, err := simplifiedchinese.GBK.NewDecoder().String(name); err == nil {
			name = decoded
		}
	}
	return asciiBrackets.Replace(name)
}
