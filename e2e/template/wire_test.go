//go:build sam

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/shared/driver/bus"
	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/sqsqueue"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/fake/fakegateway"
	"github.com/your-org/seckill/shared/fake/memory"
	"github.com/your-org/seckill/shared/seckill"
)

// wire records the drivers' calls to AWS, and answers each with almost nothing.
type wire struct {
	mu    sync.Mutex // a driver may make two concurrent calls
	heard []right
}

// attributes are a row's, or values of an expression, as DynamoDB's protocol has them.
type attributes map[string]struct{ S string }

// rowCall has the partition key of a call about rows of a table.
type rowCall struct {
	TableName                 string
	Key, Item                 attributes
	ExpressionAttributeValues attributes
}

// on returns the table, and which rows a call on a shared one is about, as the role's condition on leading keys names
// them: by the table's partition key, or by an index's.
func (c *rowCall) on(index string) string {
	if c.TableName != dynamoledger.TableOffice && c.TableName != dynamoledger.TablePassing {
		return c.TableName + index
	}
	key := c.Key["pk"].S + c.Item["pk"].S + c.ExpressionAttributeValues[":pk"].S // one has it
	rows, _, _ := strings.Cut(key, "#")
	return c.TableName + index + " " + rows
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if method, ok := strings.CutPrefix(r.URL.Path, "/live/@connections/"); ok && method != "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.heard = append(w.heard, right{"execute-api:ManageConnections", "push/" + r.Method + "/@connections/*"})
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
	}
	var in struct {
		rowCall
		IndexName, QueueURL string
		RequestItems        map[string]struct{ Keys []attributes }
		TransactItems       []map[string]rowCall
		Entries             []struct{ EventBusName string }
	}
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil {
		return nil, err
	}
	service, name, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	prefix := map[string]string{"AmazonSQS": "sqs:", "AWSEvents": "events:"}[service]
	if prefix == "" {
		prefix = "dynamodb:"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	hear := func(action, on string) {
		if at := (right{prefix + action, on}); !slices.Contains(w.heard, at) {
			w.heard = append(w.heard, at)
		}
	}
	switch {
	case in.QueueURL != "":
		hear(name, in.QueueURL[strings.LastIndexByte(in.QueueURL, '/')+1:])
	case in.Entries != nil:
		for _, e := range in.Entries {
			hear(name, e.EventBusName)
		}
	// needs the permissions of its parts ("IAM and DynamoDB transactions", Amazon DynamoDB Developer Guide)
	case in.TransactItems != nil:
		for _, item := range in.TransactItems {
			for kind, of := range item {
				hear(map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem",
					"ConditionCheck": "ConditionCheckItem"}[kind], of.on(""))
			}
		}
	case in.RequestItems != nil:
		for table, of := range in.RequestItems {
			for _, key := range of.Keys {
				hear(name, (&rowCall{TableName: table, Key: key}).on(""))
			}
		}
	case in.IndexName != "":
		hear(name, in.on("/index/"+in.IndexName))
	default:
		hear(name, in.on(""))
	}
	answer := `{"MessageId":"m"}`
	switch name + " " + in.TableName {
	case "Query connections": // two that are open
		answer = `{"Items":[{"place":{"S":"1"},"connection":{"S":"c1"},"since":{"N":"1"},"expires":{"N":"99999999999"}},
			{"place":{"S":"2"},"connection":{"S":"c2"},"since":{"N":"2"},"expires":{"N":"99999999999"}}]}`
	case "GetItem connections":
		answer = `{"Item":{"user":{"S":"1001"}}}`
	}
	return &http.Response{StatusCode: http.StatusOK,
		Header: http.Header{"Content-Type": {"application/x-amz-json-1.0"}},
		Body:   io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

// wires returns the calls to AWS of each method of each port, recorded from the production drivers: tables by their
// names without a prefix, a queue as "queue", its dead-letter queue as "dead", the bus as "bus".
func wires(t *testing.T) map[string][]right {
	t.Helper()
	w := &wire{}
	cfg := aws.Config{Region: "eu-west-1", HTTPClient: &http.Client{Transport: w},
		Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")}
	rows := dynamoledger.New(cfg, dynamoledger.Options{})
	l, items := ledger.New(rows), rows.Items()
	q := sqsqueue.New(sqs.NewFromConfig(cfg), sqsqueue.Options{URL: "https://sqs/1/queue",
		DeadLetterURL: "https://sqs/1/dead"})
	events := bus.NewBus(eventbridge.NewFromConfig(cfg), "bus", "shop")
	open := wspush.NewConnections(dynamoledger.New(cfg, dynamoledger.Options{Tables: []ledger.Table{wspush.Table}}),
		memory.NewRealClock())
	pages := wspush.New(cfg, "https://x/live", memory.NewRealClock())
	trades := fakegateway.NewTable(dynamoledger.New(cfg,
		dynamoledger.Options{Tables: []ledger.Table{fakegateway.Table}}))

	now := time.Now().Truncate(time.Second)
	it := local.DemoItems(now, 10, 5)[1]
	o := seckill.Order{ID: "o1", Item: it.ID, User: "u", Count: 1, Units: []int{1}, Price: 1, Amount: 1,
		Given: seckill.Given{Address: "a"}, State: seckill.Closing,
		CloseTo: seckill.Expired, Created: now, Placed: now, PayBy: now, Buckets: it.Buckets}
	first := seckill.Proposal{Order: "o1", Who: "ann", Why: "w", Amount: 1, At: now}
	row := seckill.LiveRow{Live: seckill.Live{Item: "1"}, Version: 1}
	pay := seckill.Payment{Order: "o1", TradeNo: "t", Amount: 1, State: seckill.Captured, At: now, Cause: "notify"}
	paid := o
	paid.State = seckill.Paid
	sent := paid
	sent.Carrier, sent.Number = "SF", "1"
	signedIn := seckill.Session{User: "1", ID: strings.Repeat("a", 32), Began: now, Renewed: now}
	person := seckill.Identity{Issuer: "https://id.example.com", Subject: "s"}
	block := seckill.Block{Subject: "user:1", Item: "1", Reason: "r", By: "b", Made: now}
	actID := seckill.ActID(now, "a")
	d := seckill.Delivery{ID: "m", Receipt: "r", Body: []byte("{}"), Receives: 1}
	return hearEach(t, w, map[string][]func(context.Context) error{
		"Ledger.Place": {func(ctx context.Context) error {
			of := o
			of.User, of.Session = signedIn.User, signedIn.ID
			return l.Place(ctx, of, 5)
		}},
		"Ledger.Reject": {func(ctx context.Context) error { return l.Reject(ctx, o) }},
		"Ledger.Order":  {func(ctx context.Context) error { _, err := l.Order(ctx, "o1"); return err }},
		"Ledger.BeginClosing": {
			func(ctx context.Context) error { return l.BeginClosing(ctx, o, seckill.Expired, now, "c") },
			func(ctx context.Context) error { return l.BeginClosing(ctx, o, seckill.Cancelled, now, "c") }},
		"Ledger.GiveBack": {func(ctx context.Context) error { return l.GiveBack(ctx, o, now, "c") }},
		"Ledger.RecordPayment": { // money that moves the order, and money for an order that is past it
			func(ctx context.Context) error { return l.RecordPayment(ctx, pay, seckill.Closing, seckill.Paid) },
			func(ctx context.Context) error { return l.RecordPayment(ctx, pay, seckill.Expired, seckill.Expired) }},
		"Ledger.Reschedule": {func(ctx context.Context) error { return l.Reschedule(ctx, "o1", now) }},
		"Ledger.SpanQuota":  {func(ctx context.Context) error { _, err := l.SpanQuota(ctx, "u", "1"); return err }},
		"Ledger.Quota":      {func(ctx context.Context) error { _, err := l.Quota(ctx, "u", "1"); return err }},
		"Ledger.Quotas": {func(ctx context.Context) error {
			_, err := l.Quotas(ctx, "1", []string{"u"})
			return err
		}},
		"Ledger.Units":    {func(ctx context.Context) error { _, err := l.Units(ctx, "1", 1); return err }},
		"Ledger.Payments": {func(ctx context.Context) error { _, err := l.Payments(ctx, "o1"); return err }},
		"Ledger.Returns":  {func(ctx context.Context) error { _, err := l.Returns(ctx, 1, "", 1); return err }},
		"Ledger.Return":   {func(ctx context.Context) error { _, err := l.Return(ctx, "o1"); return err }},
		"Ledger.DeleteReturn": {func(ctx context.Context) error {
			return l.DeleteReturn(ctx, seckill.ReturnRow{Order: "o1", Units: []int{1}})
		}},
		"Ledger.DueOrders": {func(ctx context.Context) error { _, err := l.DueOrders(ctx, 1, now, "", 1); return err }},
		"Ledger.Fulfil": {func(ctx context.Context) error {
			return l.Fulfil(ctx, paid, seckill.Confirmed, time.Time{}, now, "c")
		}},
		"Ledger.Correct":   {func(ctx context.Context) error { return l.Correct(ctx, sent, "SF", "2", now, "c") }},
		"Ledger.Note":      {func(ctx context.Context) error { return l.Note(ctx, paid, now, "c") }},
		"Ledger.Hide":      {func(ctx context.Context) error { return l.Hide(ctx, paid, true, now, "c") }},
		"Ledger.AskRefund": {func(ctx context.Context) error { return l.AskRefund(ctx, paid, "x", now, "c") }},
		"Ledger.FulfilDue": {func(ctx context.Context) error {
			_, err := l.FulfilDue(ctx, 1, now, "", 1)
			return err
		}},
		"Ledger.StartRefund": { // with restock and without
			func(ctx context.Context) error {
				return l.StartRefund(ctx, paid, pay, true, seckill.Decision{}, now, "c")
			}, func(ctx context.Context) error {
				return l.StartRefund(ctx, paid, pay, false, seckill.Decision{Proposal: &first}, now, "c")
			}, func(ctx context.Context) error {
				return l.StartRefund(ctx, paid, pay, false, seckill.Decision{Person: "ann", PerDay: 1}, now, "c")
			}, func(ctx context.Context) error {
				return l.StartRefund(ctx, paid, pay, false, seckill.Decision{}, now, "c")
			}},
		"Ledger.Propose":   {func(ctx context.Context) error { return l.Propose(ctx, first, "t1") }},
		"Ledger.Proposal":  {func(ctx context.Context) error { _, err := l.Proposal(ctx, "o1"); return err }},
		"Ledger.Proposals": {func(ctx context.Context) error { _, err := l.Proposals(ctx, "", 1); return err }},
		"Ledger.Withdraw":  {func(ctx context.Context) error { return l.Withdraw(ctx, first) }},
		"Ledger.Refunded": {
			func(ctx context.Context) error {
				return l.Refunded(ctx, pay, 0, "t2", seckill.RefundOwed, seckill.RefundOwed, now, "c")
			},
			func(ctx context.Context) error {
				return l.Refunded(ctx, pay, 0, "", seckill.RefundOwed, seckill.Refunded, now, "c")
			},
			func(ctx context.Context) error { // all of a kept payment went back outside
				gone := pay
				gone.Outside = gone.Amount
				return l.Refunded(ctx, gone, gone.Outside, "", seckill.Paid, seckill.Refunded, now, "c")
			}},
		"Ledger.EraseAddress": {func(ctx context.Context) error {
			return l.EraseAddress(ctx, "o1", seckill.Paid, now)
		}},
		"Ledger.EraseNetwork":  {func(ctx context.Context) error { return l.EraseNetwork(ctx, "o1", seckill.Paid) }},
		"Ledger.RescheduleNow": {func(ctx context.Context) error { return l.RescheduleNow(ctx, "o1", now, "c") }},
		"Ledger.KeepNotification": {func(ctx context.Context) error {
			return l.KeepNotification(ctx, seckill.KeptNotification{Order: "o1", ID: "n", At: now})
		}},
		"Ledger.Notifications": {func(ctx context.Context) error { _, err := l.Notifications(ctx, "o1"); return err }},
		"Ledger.KeepReconciliation": {func(ctx context.Context) error {
			return l.KeepReconciliation(ctx, seckill.Reconciliation{Day: seckill.Day(now), At: now})
		}},
		"Ledger.Reconciliations": {func(ctx context.Context) error {
			_, err := l.Reconciliations(ctx, "2026-11-11")
			return err
		}},
		"Ledger.PaymentsOn": {func(ctx context.Context) error {
			_, err := l.PaymentsOn(ctx, "2026-11-11", "", 1)
			return err
		}},
		"Ledger.RefundsOn": {func(ctx context.Context) error {
			_, err := l.RefundsOn(ctx, "2026-11-11", "", 1)
			return err
		}},
		"Ledger.DeferRefund": {func(ctx context.Context) error { return l.DeferRefund(ctx, pay, now, "") }},
		"Ledger.RetryRefund": {func(ctx context.Context) error {
			return l.RetryRefund(ctx, pay, seckill.RefundOwed, now, "c")
		}},
		"Ledger.RefundsDue": {func(ctx context.Context) error {
			_, err := l.RefundsDue(ctx, 1, now, "", 1)
			return err
		}},
		"Ledger.WentBack": {func(ctx context.Context) error {
			back := pay
			back.Outside, back.State = back.Amount, seckill.Captured
			return l.WentBack(ctx, o, back, 0, now, "c")
		}},
		"Ledger.Accept": {func(ctx context.Context) error {
			back := pay
			back.Outside = back.Amount
			return l.Accept(ctx, o, back, 0, now, "c")
		}},
		"Ledger.Restock": {func(ctx context.Context) error {
			back := paid
			back.State = seckill.Refunded
			return l.Restock(ctx, back, now, "c")
		}},
		"Ledger.RefundsOutside": {func(ctx context.Context) error {
			_, err := l.RefundsOutside(ctx, "", 1)
			return err
		}},
		"Ledger.RefundsRefused": {func(ctx context.Context) error {
			_, err := l.RefundsRefused(ctx, "", 1)
			return err
		}},
		"Ledger.OrdersByUser": {func(ctx context.Context) error {
			_, err := l.OrdersByUser(ctx, "u", "", 1)
			return err
		}},
		"Ledger.OrdersByItem": {func(ctx context.Context) error {
			_, err := l.OrdersByItem(ctx, "1", "", 1)
			return err
		}},

		"Ledger.NewestOrders": {func(ctx context.Context) error {
			_, err := l.NewestOrders(ctx, seckill.NewestOrders{Limit: 1})
			return err
		}, func(ctx context.Context) error {
			_, err := l.NewestOrders(ctx, seckill.NewestOrders{Item: "1", Limit: 1})
			return err
		}, func(ctx context.Context) error { // of the orders that the index names
			_, err := rows.GetBatch(ctx, []ledger.Key{{Table: ledger.TableOrders, PK: "o1"}})
			return err
		}},
		"Ledger.UserOf": {func(ctx context.Context) error { _, err := l.UserOf(ctx, person); return err }},
		"Ledger.Enrol": {func(ctx context.Context) error {
			_, err := l.Enrol(ctx, person, "1", now)
			return err
		}},
		"Ledger.BeginSession": {func(ctx context.Context) error { return l.BeginSession(ctx, signedIn) }},
		"Ledger.RenewSession": {func(ctx context.Context) error { return l.RenewSession(ctx, signedIn) }},
		"Ledger.EndSession":   {func(ctx context.Context) error { return l.EndSession(ctx, "1", signedIn.ID) }},
		"Ledger.Session": {func(ctx context.Context) error {
			_, err := l.Session(ctx, "1", signedIn.ID)
			return err
		}},
		"Ledger.ListSessions": {func(ctx context.Context) error { _, err := l.ListSessions(ctx, "1", 1); return err }},
		"Ledger.Counts":       {func(ctx context.Context) error { _, err := l.Counts(ctx, "1"); return err }},
		"Ledger.Counted": {func(ctx context.Context) error {
			_, err := l.Counted(ctx, []string{"o1"})
			return err
		}},
		"Ledger.AddCounts": {func(ctx context.Context) error {
			return l.AddCounts(ctx, seckill.Counts{Item: "1"}, seckill.Addition{At: now,
				Orders: []seckill.CountedOrder{{Order: "o1", Sequence: 1}}, Total: seckill.Count{Placed: 1}})
		}},
		"Ledger.BeginRecount": {func(ctx context.Context) error {
			return l.BeginRecount(ctx, seckill.Counts{Item: "1"}, now)
		}},
		"Ledger.EndRecount": {func(ctx context.Context) error { return l.EndRecount(ctx, seckill.Counts{Item: "1"}) }},
		"Ledger.Webhook":    {func(ctx context.Context) error { _, err := l.Webhook(ctx, "o1"); return err }},
		"Ledger.SaveWebhook": {func(ctx context.Context) error {
			return l.SaveWebhook(ctx, seckill.Webhook{Order: "o1", Known: 1, Due: now})
		}},
		"Ledger.WebhooksDue": {func(ctx context.Context) error {
			_, err := l.WebhooksDue(ctx, 1, now, "", 1)
			return err
		}},
		"Ledger.WebhooksGivenUp": {func(ctx context.Context) error {
			_, err := l.WebhooksGivenUp(ctx, "", 1)
			return err
		}},

		"Ledger.RangeBlocks": {func(ctx context.Context) error {
			_, err := l.RangeBlocks(ctx, []seckill.Subject{block.Subject}, "1")
			return err
		}},
		"Ledger.PutBlock": {func(ctx context.Context) error { return l.PutBlock(ctx, block) }},
		"Ledger.DropBlock": {func(ctx context.Context) error {
			_, err := l.DropBlock(ctx, block.Subject, "1")
			return err
		}},
		"Ledger.ListBlocks": {func(ctx context.Context) error { _, err := l.ListBlocks(ctx, 1, "", 1); return err }},
		"Ledger.PutBlocks":  {func(ctx context.Context) error { return l.PutBlocks(ctx, []seckill.Block{block}) }},
		"Ledger.Stored": {func(ctx context.Context) error {
			_, err := l.Stored(ctx, []seckill.Block{block})
			return err
		}},
		"Ledger.BlocksOn": {func(ctx context.Context) error {
			_, err := l.BlocksOn(ctx, block.Subject, "", 1)
			return err
		}},
		"Ledger.KeepAct": {func(ctx context.Context) error { return l.KeepAct(ctx, seckill.Act{ID: actID, At: now}) }},
		"Ledger.Act":     {func(ctx context.Context) error { _, err := l.Act(ctx, actID); return err }},
		"Ledger.ActsOn": {func(ctx context.Context) error {
			_, err := l.ActsOn(ctx, "2026-01-01", 0, "", 1)
			return err
		}},
		"Ledger.HandleAct": {func(ctx context.Context) error { return l.HandleAct(ctx, actID, "b", "n", now) }},
		"Ledger.Live":      {func(ctx context.Context) error { _, err := l.Live(ctx, "1"); return err }},
		"Ledger.LeaseLive": {func(ctx context.Context) error { _, err := l.LeaseLive(ctx, row, now); return err }},
		"Ledger.KeepLive":  {func(ctx context.Context) error { return l.KeepLive(ctx, row, now) }},
		"Ledger.AppendAudit": {func(ctx context.Context) error {
			e := seckill.AuditEntry{ID: "a"}
			e.Stamp(now)
			return l.AppendAudit(ctx, e)
		}},
		"Ledger.AuditOn": {func(ctx context.Context) error {
			_, err := l.AuditOn(ctx, "2026-01-01", "", 1)
			return err
		}},
		"StaffSessions.StaffSession": {func(ctx context.Context) error {
			_, err := l.StaffSession(ctx, "k")
			return err
		}},
		"StaffSessions.SaveStaffSession": {func(ctx context.Context) error {
			return l.SaveStaffSession(ctx, seckill.StaffSession{Key: "k"})
		}},
		"StaffSessions.EndStaffSession": {func(ctx context.Context) error { return l.EndStaffSession(ctx, "k") }},
		"StaffSessions.ListStaffSessions": {func(ctx context.Context) error {
			_, err := l.ListStaffSessions(ctx, "", 1)
			return err
		}},
		"Ledger.UserBlocks": {func(ctx context.Context) error {
			_, err := l.UserBlocks(ctx, "u", "1")
			return err
		}},
		"Ledger.CountAttempt": {func(ctx context.Context) error { return l.CountAttempt(ctx, "u", "1", now) }},
		"Ledger.Questions":    {func(ctx context.Context) error { _, err := l.Questions(ctx, "1"); return err }},
		"Ledger.PutQuestion": {func(ctx context.Context) error {
			return l.PutQuestion(ctx, "1", seckill.Question{ID: "q", Text: "2 + 2?", Answers: []string{"4"}})
		}},
		"Ledger.DropQuestion": {func(ctx context.Context) error { return l.DropQuestion(ctx, "1", "q") }},

		"Ledger.Activity": {func(ctx context.Context) error { _, err := l.Activity(ctx, "1"); return err }},
		"Ledger.ActivitiesOf": {func(ctx context.Context) error {
			_, err := l.ActivitiesOf(ctx, []string{"1"})
			return err
		}},
		"Ledger.ListActivities": {func(ctx context.Context) error {
			_, err := l.ListActivities(ctx, "", 1)
			return err
		}},
		"Ledger.SaveActivity": {func(ctx context.Context) error {
			was := seckill.Activity{ID: "1", Title: "t", Start: now, End: now.Add(time.Hour), Items: []string{"1"},
				Version: 1, MadeBy: "ann", MadeFrom: seckill.MadeAtCLI, Made: now}
			next := was
			next.Version, next.Items = 2, []string{"2"}
			return l.SaveActivity(ctx, next, &was)
		}},

		"Items.Get":  {func(ctx context.Context) error { _, err := items.Get(ctx, "1"); return err }},
		"Items.List": {func(ctx context.Context) error { _, err := items.List(ctx, now); return err }},
		"Items.ListEnded": {func(ctx context.Context) error {
			_, err := items.ListEnded(ctx, seckill.KeptNetworks, now)
			return err
		}},
		"Items.MarkErased": {func(ctx context.Context) error {
			return items.MarkErased(ctx, "1", seckill.KeptNetworks, now)
		}},
		"Items.Description": {func(ctx context.Context) error { _, err := items.Description(ctx, "1", 1); return err }},
		"Items.ListVersion": {func(ctx context.Context) error { _, err := items.ListVersion(ctx); return err }},
		"Items.ReadList":    {func(ctx context.Context) error { _, err := items.ReadList(ctx, 1); return err }},
		"Items.Published":   {func(ctx context.Context) error { _, err := items.Published(ctx); return err }},
		"Items.Publish":     {func(ctx context.Context) error { return items.Publish(ctx, seckill.List{Version: 1}) }},
		"Items.Put":         {func(ctx context.Context) error { return items.Put(ctx, it.Item, &it.Description) }},

		"Queue.Send": {func(ctx context.Context) error {
			return q.Send(ctx, seckill.Message{Kind: seckill.MessageWake, Item: "1"}, 0)
		}},
		"Queue.Receive": {func(ctx context.Context) error { _, err := q.Receive(ctx, 1); return err }},
		"Queue.Delete":  {func(ctx context.Context) error { return q.Delete(ctx, d) }},
		"Queue.Delay":   {func(ctx context.Context) error { return q.Delay(ctx, d, time.Second) }},
		"Queue.Park":    {func(ctx context.Context) error { return q.Park(ctx, d, "r") }},
		"Queue.Depth":   {func(ctx context.Context) error { _, err := q.Depth(ctx); return err }},

		"Bus.Publish": {func(ctx context.Context) error {
			return errors.Join(events.Publish(ctx, []seckill.OrderEvent{{}})...)
		}},

		"Connections.Open": {func(ctx context.Context) error {
			_, err := open.Open(ctx, seckill.Pass{User: "1001", Nonce: "n"}, seckill.Connection{ID: "c3", User: "1001"})
			return err
		}},
		"Connections.Of":     {func(ctx context.Context) error { _, err := open.Of(ctx, "1001"); return err }},
		"Connections.Forget": {func(ctx context.Context) error { return open.Forget(ctx, "c1") }},
		"Wire.Send":          {func(ctx context.Context) error { return pages.Send(ctx, "c1", &seckill.OrderEvent{}) }},
		"Wire.Close":         {func(ctx context.Context) error { return pages.Close(ctx, "c1") }},

		"Store.Load": {func(ctx context.Context) error {
			_, _, err := trades.Load(ctx, fakegateway.Key{OutTradeNo: "o1", N: 1})
			return err
		}},
		"Store.Find":  {func(ctx context.Context) error { _, _, err := trades.Find(ctx, "t"); return err }},
		"Store.Moved": {func(ctx context.Context) error { _, err := trades.Moved(ctx, "2026-01-01"); return err }},
		"Store.Save": {func(ctx context.Context) error {
			return trades.Save(ctx, fakegateway.Record{Trade: fakegateway.Trade{OutTradeNo: "o1", TradeNo: "t"}, N: 1})
		}},
		"Store.Due": {func(ctx context.Context) error { _, err := trades.Due(ctx, now); return err }},
	})
}

func hearEach(t *testing.T, w *wire, methods map[string][]func(context.Context) error) map[string][]right {
	t.Helper()
	for name, port := range map[string]reflect.Type{"Ledger": reflect.TypeFor[seckill.Ledger](),
		"Items": reflect.TypeFor[seckill.Items](),
		"Queue": reflect.TypeFor[seckill.Queue](), "Bus": reflect.TypeFor[seckill.Bus](),
		"Connections": reflect.TypeFor[seckill.Connections](), "Wire": reflect.TypeFor[seckill.Wire](),
		"StaffSessions": reflect.TypeFor[seckill.StaffSessions](),
		"Store":         reflect.TypeFor[fakegateway.Store]()} {
		for i := range port.NumMethod() {
			if m := name + "." + port.Method(i).Name; methods[m] == nil {
				t.Errorf("%s is not called here", m)
			}
		}
	}
	out := map[string][]right{}
	for name, calls := range methods {
		w.heard = nil
		for _, call := range calls {
			err := call(t.Context()) // what follows from the empty answer does not matter
			if len(w.heard) == 0 {
				t.Fatalf("%s called nothing: %v", name, err)
			}
		}
		out[name] = w.heard
	}
	return out
}
