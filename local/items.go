package local

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/your-org/seckill/shared/adapter/itemfile"
	"github.com/your-org/seckill/shared/seckill"
)

// HeaderUnreadable is in the answer to an export, once for each item that is not in it because its row cannot be read:
// which, quoted as Go does.
const HeaderUnreadable = "Seckill-Unreadable"

// getItems exports every item that can be read as an items file.
func (s *System) getItems(w http.ResponseWriter, r *http.Request) {
	items, err := s.Items.List(r.Context(), time.Time{})
	rows, err := seckill.SplitUnreadable(err)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	all := make([]seckill.Listing, 0, len(items))
	for _, it := range items {
		d, err := s.Items.Description(r.Context(), it.ID, it.Described)
		bad, err := seckill.SplitUnreadable(err)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		if rows = append(rows, bad...); bad == nil {
			all = append(all, seckill.Listing{Item: it, Description: d})
		}
	}
	for _, row := range rows {
		w.Header().Add(HeaderUnreadable, strconv.QuoteToASCII(row))
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if _, err := w.Write(itemfile.Format(all)); err != nil {
		s.log.Warn("answer not written", "err", err)
	}
}

// postItems imports an items file, CSV when the Content-Type says text/csv and JSON otherwise: all of it, or nothing
// and a problem document whose detail names the bad lines. What is on sale, or soon is, can be bought at once.
func (s *System) postItems(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, itemfile.MaxSize))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		err = &seckill.Error{Code: seckill.CodeTooLarge, Err: err}
	} else if err != nil {
		err = seckill.Invalid("body", "")
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	name := "items.json"
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "text/csv" {
		name = "items.csv"
	}
	// Somebody who hangs up does not leave half a file behind.
	ctx := context.WithoutCancel(r.Context())
	done, err := s.operator.Import(ctx, name, data)
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	if err := errors.Join(s.Stage.Run(ctx), s.Repair.Run(ctx)); err != nil {
		s.log.Warn("the schedule has to load what was imported", "err", err)
	}
	s.reply(w, done)
}
