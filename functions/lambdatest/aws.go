package lambdatest

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/smithy-go/encoding/cbor"

	"github.com/your-org/seckill/shared/driver/dynamoledger"
	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/driver/wspush"
	"github.com/your-org/seckill/shared/fake/fakegateway"
)

// Secret is the name of the only secret, which has all entries.
const Secret = "/seckill/all"

// AWS is a server that answers the functions' calls to Secrets Manager, SQS, DynamoDB, EventBridge, CloudWatch, Lambda
// and the connections of a WebSocket API, of which those that begin with "gone" have ended. It is not an emulator: it
// keeps what is put and sent, and accepts every transaction without checking its conditions. Conditions are tested on a
// real server.
type AWS struct {
	URL    string
	Prefix string // of tables; others are missing

	mu      sync.Mutex
	entries map[string]string // of the secret
	calls   []string
	sent    map[string][]string                   // bodies by queue URL; a missing key is a missing queue
	rows    map[string]map[string]json.RawMessage // items by table and key
	tables  map[string]ledger.Table
	heard   map[string]bool // calls, by the id that the SDK assigns
	events  []string        // details that the event bus keeps
	busAway bool            // the bus refuses every event
	pushed  []string        // calls about connections
	lambda  map[string]Callee
}

// Callee is a function that another function may call: it answers an event, or refuses the call with one of Lambda's
// errors.
type Callee func(event []byte) (answer []byte, refused string, failed error)

// NewAWS starts a server with all tables, a secret with these entries, and queues (by the last part of their URL),
// until the test ends.
func NewAWS(t testing.TB, entries map[string]string, queues ...string) *AWS {
	a := &AWS{Prefix: "seckill-", entries: entries, sent: map[string][]string{},
		rows: map[string]map[string]json.RawMessage{}, tables: map[string]ledger.Table{}, heard: map[string]bool{}}
	server := httptest.NewServer(a)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	a.mu.Lock() // the server is already running
	defer a.mu.Unlock()
	a.URL = server.URL
	for _, q := range queues {
		a.sent[a.Queue(q)] = nil
	}
	for _, table := range append(dynamoledger.Schema(), fakegateway.Table, wspush.Table) {
		a.tables[a.Prefix+table.Name] = table
		a.rows[a.Prefix+table.Name] = map[string]json.RawMessage{}
	}
	return a
}

// Queue returns a queue's URL.
func (a *AWS) Queue(name string) string { return a.URL + "/000000000000/" + name }

// SetSecret sets an entry of the secret.
func (a *AWS) SetSecret(name, value string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.entries[name] = value
}

// Calls returns and clears the names of the calls, in order: "GetItem items" for a table, "SendMessage" for others. A
// call that the SDK repeats on a busy machine appears once.
func (a *AWS) Calls() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.calls
	a.calls = nil
	return out
}

// Sent returns and clears the bodies of the messages sent to a queue.
func (a *AWS) Sent(queue string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.sent[a.Queue(queue)]
	a.sent[a.Queue(queue)] = nil
	return out
}

// Events returns and clears the details of the events on the bus.
func (a *AWS) Events() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.events
	a.events = nil
	return out
}

// BusAway makes the event bus refuse every event, or keep them again.
func (a *AWS) BusAway(away bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.busAway = away
}

// Stage returns the address of the WebSocket API's stage.
func (a *AWS) Stage() string { return a.URL + "/live" }

// Pushed returns and clears the calls about connections, in any order: "POST ID TEXT" or "DELETE ID ".
func (a *AWS) Pushed() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.pushed
	a.pushed = nil
	return out
}

// SetFunction has calls of the alias live of the function with this name answered.
func (a *AWS) SetFunction(name string, f Callee) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lambda == nil {
		a.lambda = map[string]Callee{}
	}
	a.lambda[name] = f
}

// invoke answers one call of a function ("Invoke", AWS Lambda API Reference).
func (a *AWS) invoke(w http.ResponseWriter, r *http.Request, path string, body []byte) {
	name, isCall := strings.CutSuffix(path, "/invocations")
	a.mu.Lock()
	f := a.lambda[name]
	a.mu.Unlock()
	var answer []byte
	var failed error
	refused := "ResourceNotFoundException"
	if f != nil && isCall && r.URL.Query().Get("Qualifier") == "live" &&
		strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/lambda/aws4_request") {
		answer, refused, failed = f(body)
	}
	switch {
	case refused != "":
		w.Header().Set("X-Amzn-Errortype", refused)
		w.WriteHeader(map[string]int{"ResourceNotFoundException": 404, "TooManyRequestsException": 429}[refused])
		answer = []byte(`{"Message":"refused"}`)
	case failed != nil:
		w.Header().Set("X-Amz-Function-Error", "Unhandled")
		answer, _ = json.Marshal(map[string]string{"errorMessage": failed.Error()}) // strings always marshal
	}
	_, _ = w.Write(answer)
}

// connection answers one call about a connection, of a caller that signs.
func (a *AWS) connection(w http.ResponseWriter, r *http.Request, id string, body []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case !strings.Contains(r.Header.Get("Authorization"), "/eu-west-1/execute-api/aws4_request"):
		w.WriteHeader(http.StatusForbidden)
	case strings.HasPrefix(id, "gone"):
		w.WriteHeader(http.StatusGone)
	default:
		a.pushed = append(a.pushed, r.Method+" "+id+" "+string(body))
	}
}

// request has the fields of all supported calls.
type request struct {
	SecretID      string `json:"SecretId"`
	QueueURL      string
	MessageBody   string
	TableName     string
	IndexName     string
	Key           map[string]any
	RequestItems  map[string]struct{ Keys []map[string]any }
	TransactItems []struct {
		Put *struct {
			TableName string
			Item      map[string]any
		}
		Delete *struct {
			TableName string
			Key       map[string]any
		}
	}
	ExpressionAttributeValues map[string]any
	Entries                   []struct{ Detail string }
}

// ServeHTTP answers one call to any of the services.
func (a *AWS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	if id, ok := strings.CutPrefix(r.URL.Path, "/live/@connections/"); ok {
		a.connection(w, r, id, b)
		return
	}
	if path, ok := strings.CutPrefix(r.URL.Path, "/2015-03-31/functions/"); ok {
		a.invoke(w, r, path, b)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/operation/GetMetricData") { // CloudWatch's protocol; it has no figures
		w.Header().Set("Smithy-Protocol", "rpc-v2-cbor")
		w.Header().Set("Content-Type", "application/cbor")
		_, _ = w.Write(cbor.Encode(cbor.Map{"MetricDataResults": cbor.List{}}))
		return
	}
	var in request
	if err := json.Unmarshal(b, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, call, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	id := r.Header.Get("Amz-Sdk-Invocation-Id")
	out, fault := a.answer(call, id, &in)
	if !a.heard[id] {
		a.calls = append(a.calls, strings.TrimSpace(call+" "+strings.TrimPrefix(in.TableName, a.Prefix)))
	}
	a.heard[id] = true
	if fault != "" {
		out = map[string]any{"__type": fault, "message": fault + " for " + call}
	}
	body, _ := json.Marshal(out) // strings and valid JSON always marshal
	w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10))
	if fault != "" {
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write(body)
}

// put keeps the events of a PutEvents call, and returns an entry of the answer for each.
func (a *AWS) put(in *request) []any {
	entries := []any{}
	for _, e := range in.Entries {
		entry := map[string]any{"EventId": "1"}
		if a.busAway {
			entry = map[string]any{"ErrorCode": "ThrottlingException", "ErrorMessage": "slow down"}
		} else {
			a.events = append(a.events, e.Detail)
		}
		entries = append(entries, entry)
	}
	return entries
}

func (a *AWS) answer(call, id string, in *request) (out map[string]any, fault string) {
	queue, hasQueue := a.sent[in.QueueURL]
	if in.QueueURL != "" && !hasQueue {
		return nil, "com.amazonaws.sqs#QueueDoesNotExist"
	}
	table, hasTable := a.tables[in.TableName]
	if in.TableName != "" && !hasTable {
		return nil, "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
	}
	switch call {
	case "GetSecretValue":
		if in.SecretID != Secret {
			return nil, "ResourceNotFoundException"
		}
		text, _ := json.Marshal(a.entries) // strings always marshal
		return map[string]any{"Name": Secret, "SecretString": string(text)}, ""
	case "SendMessage":
		// On a busy machine the SDK repeats a call whose answer took a second, and tests count messages.
		if !a.heard[id] {
			a.sent[in.QueueURL] = append(queue, in.MessageBody)
		}
		sum := md5.Sum([]byte(in.MessageBody))
		return map[string]any{"MessageId": hex.EncodeToString(sum[:]), "MD5OfMessageBody": hex.EncodeToString(sum[:])},
			""
	case "GetQueueAttributes":
		return map[string]any{"Attributes": map[string]string{"ApproximateNumberOfMessages": "0",
			"ApproximateNumberOfMessagesNotVisible": "0",
			"ApproximateNumberOfMessagesDelayed":    "0"}}, ""
	case "ChangeMessageVisibility":
		return map[string]any{}, ""
	case "DescribeTable":
		return map[string]any{"Table": description(in.TableName, table)}, ""
	case "GetItem":
		if item, ok := a.rows[in.TableName][keyOf(table, in.Key)]; ok {
			return map[string]any{"Item": item}, ""
		}
		return map[string]any{}, ""
	case "BatchGetItem":
		found := map[string][]json.RawMessage{}
		for name, t := range in.RequestItems {
			for _, key := range t.Keys {
				if item, ok := a.rows[name][keyOf(a.tables[name], key)]; ok {
					found[name] = append(found[name], item)
				}
			}
		}
		return map[string]any{"Responses": found, "UnprocessedKeys": map[string]any{}}, ""
	case "Scan", "Query":
		items, pk := []json.RawMessage{}, table.PK
		for _, x := range table.Indexes {
			if x.Name == in.IndexName {
				pk = x.PK
			}
		}
		for _, item := range a.rows[in.TableName] {
			if call == "Scan" || in.inPartition(pk, item) {
				items = append(items, item)
			}
		}
		return map[string]any{"Items": items, "Count": len(items), "ScannedCount": len(items)}, ""
	case "PutEvents":
		return map[string]any{"Entries": a.put(in)}, ""
	case "TransactWriteItems":
		a.transact(in)
		return map[string]any{}, ""
	case "UpdateItem": // applied as little as in a transaction: no test reads what it changes
		return map[string]any{}, ""
	}
	return nil, "UnknownOperationException"
}

func (a *AWS) transact(in *request) {
	for _, w := range in.TransactItems {
		switch {
		case w.Put != nil:
			item, _ := json.Marshal(w.Put.Item) // it was JSON before
			a.rows[w.Put.TableName][keyOf(a.tables[w.Put.TableName], w.Put.Item)] = item
		case w.Delete != nil:
			delete(a.rows[w.Delete.TableName], keyOf(a.tables[w.Delete.TableName], w.Delete.Key))
		}
	}
}

// inPartition reports whether an item has the partition key of a query.
func (in *request) inPartition(pk string, item json.RawMessage) bool {
	var attrs map[string]any
	return json.Unmarshal(item, &attrs) == nil && text(attrs[pk]) == text(in.ExpressionAttributeValues[":pk"])
}

func keyOf(t ledger.Table, attrs map[string]any) string {
	return text(attrs[t.PK]) + "\x00" + text(attrs[t.SK])
}

// text returns the string of an attribute value {"S": "…"}; all keys are strings.
func text(v any) string {
	m, _ := v.(map[string]any)
	s, _ := m["S"].(string)
	return s
}

func description(name string, t ledger.Table) map[string]any {
	kinds, indexes := []any{}, []any{}
	keys := func(pk, sk string) []any {
		out := []any{map[string]any{"AttributeName": pk, "KeyType": "HASH"}}
		kinds = append(kinds, map[string]any{"AttributeName": pk, "AttributeType": "S"})
		if sk != "" {
			out = append(out, map[string]any{"AttributeName": sk, "KeyType": "RANGE"})
			kinds = append(kinds, map[string]any{"AttributeName": sk, "AttributeType": "S"})
		}
		return out
	}
	own := keys(t.PK, t.SK)
	for _, x := range t.Indexes {
		projection := "ALL"
		if x.KeysOnly {
			projection = "KEYS_ONLY"
		}
		indexes = append(indexes, map[string]any{"IndexName": x.Name, "KeySchema": keys(x.PK, x.SK),
			"Projection": map[string]any{"ProjectionType": projection}})
	}
	return map[string]any{"TableName": name, "TableStatus": "ACTIVE", "KeySchema": own,
		"GlobalSecondaryIndexes": indexes, "AttributeDefinitions": kinds}
}
