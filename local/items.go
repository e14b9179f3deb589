package local

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"seckill/shared/adapter/itemfile"
	"seckill/shared/flow/stage"
	"seckill/shared/seckill"
)

// getItems exports every item as an items file.
func (s *System) getItems(w http.ResponseWriter, r *http.Request) {
	items, err := s.Items.List(r.Context(), time.Time{})
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if _, err := w.Write(itemfile.Format(items)); err != nil {
		s.log.Warn("answer not written", "err", err)
	}
}

// postItems imports an items file, CSV when the Content-Type says text/csv and JSON otherwise: all of it, or nothing and a problem
// document whose detail names the bad lines. What is on sale, or soon is, can be bought at once.
func (s *System) postItems() http.HandlerFunc {
	var one sync.Mutex // at a time: what one import was judged by, another does not change
	return func(w http.ResponseWriter, r *http.Request) {
		items, err := s.readItems(w, r)
		if err != nil {
			s.refuseFile(w, r, err)
			return
		}
		// Somebody who hangs up does not leave half a file behind.
		ctx := context.WithoutCancel(r.Context())
		one.Lock()
		done, err := s.Stage.Import(ctx, items)
		one.Unlock()
		if err != nil {
			s.refuseFile(w, r, err)
			return
		}
		if err := errors.Join(s.Stage.Run(ctx), s.Repair.Run(ctx)); err != nil {
			s.log.Warn("the schedule has to load what was imported", "err", err)
		}
		s.reply(w, done)
	}
}

func (s *System) readItems(w http.ResponseWriter, r *http.Request) ([]seckill.Item, error) {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, itemfile.MaxSize))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		return nil, &seckill.Error{Code: seckill.CodeTooLarge, Err: err}
	}
	if err != nil {
		return nil, seckill.Invalid("body", "")
	}
	name := "items.json"
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind == "text/csv" {
		name = "items.csv"
	}
	items, err := itemfile.Parse(name, data, s.Clock.Now())
	if err != nil {
		return nil, fileError{err}
	}
	return items, nil
}

// fileError is what is wrong with a file, in words for its author.
type fileError struct{ error }

// refuseFile answers a refused import. What is wrong with the file stands in the detail, as it is.
func (s *System) refuseFile(w http.ResponseWriter, r *http.Request, err error) {
	if refused := (*stage.ImportError)(nil); !errors.As(err, &refused) && !errors.As(err, &fileError{}) {
		s.refuse(w, r, err)
		return
	}
	code := seckill.CodeInvalid
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code.Status())
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]any{"type": "urn:problem-type:seckill:" + string(code), "title": "Nothing was imported", "status": code.Status(),
		"code": code, "detail": err.Error()}); err != nil {
		s.log.Warn("answer not written", "err", err)
	}
}

// itemChange is an item as it is now, and whether it was otherwise before.
type itemChange struct {
	itemState
	Changed bool `json:"changed"`
}

// change makes an operator's change and answers with the item as it is now.
func (s *System) change(w http.ResponseWriter, r *http.Request, edit func(id string) error) {
	id := r.PathValue("id")
	before, err := s.Items.Get(r.Context(), id)
	after := before
	if err == nil {
		err = edit(id)
	}
	if err == nil {
		after, err = s.Items.Get(r.Context(), id)
	}
	if err != nil {
		s.refuse(w, r, err)
		return
	}
	s.reply(w, itemChange{s.itemState(r.Context(), &after, s.Clock.Now()), after.Version != before.Version})
}
