package account

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
)

// Names of limits.
const (
	OfTables     = "DynamoDB: units of a table or an index"
	OfPartitions = "DynamoDB: units of a partition key"
	OfControl    = "DynamoDB: control plane"
)

const dynamoTarget = "DynamoDB_20120810."

// DynamoDB's reasons for refusals (API_ThrottlingReason; "DynamoDB throttling diagnosis framework"). An on-demand
// table answers ThrottlingException; a transaction answers TransactionCanceledException with a reason for each of its
// parts.
const (
	saysTable = "Throughput exceeds the current capacity of your table or index. " +
		"DynamoDB is automatically scaling your table or index so please try again shortly."
	saysPartition = "Throughput exceeds the current capacity for one or more partition keys of your table or index. " +
		"Please try again shortly."
)

// dynamoDB is a proxy in front of a DynamoDB-compatible server: it asks the server what each call consumed, by table
// and index, and refuses calls to a table, an index or a partition key that has no units left. As in DynamoDB, a call
// passes while anything is left, and its excess delays later calls.
//
// Differences: it refuses a whole BatchGetItem, where DynamoDB answers a part; it splits the units of a call with
// several keys of one table evenly among them; and it learns an index's partition keys from new rows and from
// queries, not from updates.
type dynamoDB struct {
	*Account
	upstream string
	client   *http.Client
	control  *bucket

	mu         sync.Mutex
	tables     map[string]*growing // by table or table/index, and by read or write
	partitions map[string]*bucket
	schemas    map[string]*schema
}

// schema has the names of the partition keys of a table and its indexes.
type schema struct {
	pk      string
	indexes map[string]string
}

func (a *Account) newDynamoDB(upstream string) *dynamoDB {
	return &dynamoDB{
		Account:    a,
		upstream:   upstream,
		client:     &http.Client{},
		control:    aSecond(a.clock, a.limits.Control),
		tables:     map[string]*growing{},
		partitions: map[string]*bucket{},
		schemas:    map[string]*schema{},
	}
}

// part is a call's effect on one row, or on the rows of a query: its table, the index that it reads, and the keys.
type part struct {
	table, index string
	write        bool
	key          string            // partition key; "" if unknown
	indexKeys    map[string]string // for a row that is put: partition keys by index
}

// attribute is a value in DynamoDB's form, such as {"S":"a"}; keys here are strings.
type attributes map[string]map[string]any

func (a attributes) text(name string) string {
	s, _ := a[name]["S"].(string)
	return s
}

// call has the fields that identify the rows of a call.
type call struct {
	TableName, IndexName      string
	Key, Item                 attributes
	KeyConditionExpression    string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attributes
	RequestItems              map[string]struct{ Keys []attributes }
	TransactItems             []map[string]*call
}

// consumed is the capacity that the server reports for a call.
type consumed struct {
	TableName              string
	CapacityUnits          float64
	Table                  struct{ CapacityUnits float64 }
	GlobalSecondaryIndexes map[string]struct{ CapacityUnits float64 }
}

func (d *dynamoDB) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	operation := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), dynamoTarget)
	var parts []part
	switch operation {
	case "GetItem",
		"PutItem",
		"UpdateItem",
		"DeleteItem",
		"Query",
		"Scan",
		"BatchGetItem",
		"TransactWriteItems",
		"TransactGetItems":
		var in call
		if err := json.Unmarshal(body, &in); err != nil {
			awsError(w, http.StatusBadRequest, "com.amazon.coral.service#SerializationException", err.Error())
			return
		}
		parts = d.parts(r.Context(), operation, &in)
		if refused := d.refused(parts); refused != nil {
			d.refuse(w, operation, refused)
			return
		}
		body = asking(body)
	default:
		passed := d.control.take()
		d.counts.add(OfControl, passed)
		if !passed {
			awsError(w, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#ThrottlingException",
				"Rate of requests exceeds the allowed throughput for DynamoDB control plane operations. Please retry.")
			return
		}
	}
	status, header, answer, err := d.forward(r.Context(), r.Header, body)
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable) // the server behind is gone: DynamoDB's 503
		return
	}
	if len(parts) > 0 {
		d.charge(parts, answer)
	}
	for _, name := range []string{"Content-Type", "X-Amz-Crc32", "X-Amzn-Requestid"} {
		if v := header.Get(name); v != "" {
			w.Header().Set(name, v)
		}
	}
	w.WriteHeader(status)
	_, _ = w.Write(answer) // fails only if the caller has disconnected
}

// asking makes a call ask for its consumed capacity.
func asking(body []byte) []byte {
	at := bytes.IndexByte(body, '{')
	if at < 0 || bytes.Contains(body, []byte(`"ReturnConsumedCapacity"`)) {
		return body
	}
	out := append([]byte(`{"ReturnConsumedCapacity":"INDEXES"`), ',')
	if bytes.Equal(bytes.TrimSpace(body[at+1:]), []byte("}")) {
		out = out[:len(out)-1]
	}
	return append(out, body[at+1:]...)
}

func (d *dynamoDB) forward(ctx context.Context, header http.Header, body []byte) (int, http.Header, []byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.upstream, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	for name, values := range header {
		if name != "Content-Length" && name != "Accept-Encoding" {
			r.Header[name] = values
		}
	}
	answer, err := d.client.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close()
	out, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, out, err
}

// parts returns the rows of a call.
func (d *dynamoDB) parts(ctx context.Context, operation string, in *call) (out []part) {
	one := func(c *call, write bool) part {
		s := d.schema(ctx, c.TableName)
		p := part{table: c.TableName, write: write, key: c.Key.text(s.pk)}
		if c.Item != nil {
			p.key, p.indexKeys = c.Item.text(s.pk), map[string]string{}
			for index, pk := range s.indexes {
				p.indexKeys[index] = c.Item.text(pk)
			}
		}
		return p
	}
	switch operation {
	case "GetItem":
		return []part{one(in, false)}
	case "PutItem", "UpdateItem", "DeleteItem":
		return []part{one(in, true)}
	case "Query", "Scan":
		name, value, _ := strings.Cut(in.KeyConditionExpression, "=")
		_ = name // the partition key's condition comes first and must be an equality
		value, _, _ = strings.Cut(strings.TrimSpace(value), " ")
		return []part{
			{
				table: in.TableName,
				index: in.IndexName,
				key:   in.ExpressionAttributeValues.text(strings.Trim(value, "()")),
			},
		}
	case "BatchGetItem":
		for table, rows := range in.RequestItems {
			for _, key := range rows.Keys {
				out = append(out, one(&call{TableName: table, Key: key}, false))
			}
		}
	default:
		for _, item := range in.TransactItems {
			for what, c := range item {
				out = append(out, one(c, what != "Get"))
			}
		}
	}
	return out
}

// schema asks the server for a table's keys, once.
func (d *dynamoDB) schema(ctx context.Context, table string) *schema {
	d.mu.Lock()
	s := d.schemas[table]
	d.mu.Unlock()
	if s != nil {
		return s
	}
	type keys []struct{ AttributeName, KeyType string }
	var out struct {
		Table struct {
			KeySchema              keys
			GlobalSecondaryIndexes []struct {
				IndexName string
				KeySchema keys
			}
		}
	}
	body, _ := json.Marshal(map[string]string{"TableName": table})
	header := http.Header{
		"X-Amz-Target": {dynamoTarget + "DescribeTable"},
		"Content-Type": {"application/x-amz-json-1.0"},
		"X-Amz-Date":   {"20261111T000000Z"},
		"Authorization": {
			"AWS4-HMAC-SHA256 Credential=test/20261111/eu-west-1/dynamodb/aws4_request, " +
				"SignedHeaders=host, Signature=none",
		},
	}
	_, _, answer, err := d.forward(ctx, header, body)
	if err != nil || json.Unmarshal(answer, &out) != nil || len(out.Table.KeySchema) == 0 {
		return &schema{}
	}
	hash := func(k keys) string {
		for _, part := range k {
			if part.KeyType == "HASH" {
				return part.AttributeName
			}
		}
		return ""
	}
	s = &schema{pk: hash(out.Table.KeySchema), indexes: map[string]string{}}
	for _, x := range out.Table.GlobalSecondaryIndexes {
		s.indexes[x.IndexName] = hash(x.KeySchema)
	}
	d.mu.Lock()
	d.schemas[table] = s
	d.mu.Unlock()
	return s
}

// Limits of a table, of an index, and of their partition keys, each for reads and for writes, created on first use.
func (d *dynamoDB) tableLimit(name string, write bool) *growing {
	rate := d.limits.TableReads
	if write {
		rate = d.limits.TableWrites
	}
	key := kind(write) + name
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tables[key] == nil {
		d.tables[key] = newGrowing(d.clock, rate, TableGrows)
	}
	return d.tables[key]
}

func (d *dynamoDB) partitionLimit(name, value string, write bool) *bucket {
	rate := d.limits.PartitionReads
	if write {
		rate = d.limits.PartitionWrites
	}
	key := kind(write) + name + "\x00" + value
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.partitions[key] == nil {
		d.partitions[key] = aSecond(d.clock, rate)
	}
	return d.partitions[key]
}

func kind(write bool) string {
	if write {
		return "write "
	}
	return "read "
}

func (p *part) name() string {
	if p.index != "" {
		return p.table + "/" + p.index
	}
	return p.table
}

// refusal has, for each part of a call, the limit that it exceeds, or "".
type refusal struct {
	says []string
	any  string
}

// refused returns why a call must be refused, or nil if it may pass.
func (d *dynamoDB) refused(parts []part) *refusal {
	r := &refusal{says: make([]string, len(parts))}
	for i := range parts {
		p := &parts[i]
		if p.key != "" && !d.partitionLimit(p.name(), p.key, p.write).open() {
			r.says[i] = saysPartition
		}
		for index, value := range p.indexKeys {
			if value != "" && !d.partitionLimit(p.table+"/"+index, value, true).open() {
				r.says[i] = saysPartition
			}
		}
		if !d.tableLimit(p.name(), p.write).open() {
			r.says[i] = saysTable
		}
		if p.write { // an index above its limit throttles the table's writes
			d.mu.Lock()
			s := d.schemas[p.table]
			d.mu.Unlock()
			if s != nil {
				for index := range s.indexes {
					if !d.tableLimit(p.table+"/"+index, true).open() {
						r.says[i] = saysTable
					}
				}
			}
		}
		if r.says[i] != "" {
			r.any = r.says[i]
		}
	}
	d.counts.add(OfTables, r.any != saysTable)
	d.counts.add(OfPartitions, r.any != saysPartition)
	if r.any == "" {
		return nil
	}
	return r
}

func (d *dynamoDB) refuse(w http.ResponseWriter, operation string, r *refusal) {
	if operation != "TransactWriteItems" && operation != "TransactGetItems" {
		awsError(w, http.StatusBadRequest, "com.amazonaws.dynamodb.v20120810#ThrottlingException", r.any)
		return
	}
	reasons, codes := []map[string]string{}, []string{}
	for _, says := range r.says {
		code := "None"
		reason := map[string]string{"Code": code}
		if says != "" {
			code = "ThrottlingError"
			reason = map[string]string{"Code": code, "Message": says}
		}
		reasons, codes = append(reasons, reason), append(codes, code)
	}
	writeJSON(w, http.StatusBadRequest, map[string]any{
		"__type":              "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
		"CancellationReasons": reasons,
		"Message": "Transaction cancelled, please refer cancellation reasons for specific reasons [" + strings.Join(
			codes, ", ") + "]",
	})
}

// charge deducts what a call consumed from the limits of its tables, indexes and partition keys.
func (d *dynamoDB) charge(parts []part, answer []byte) {
	var out struct{ ConsumedCapacity json.RawMessage }
	if json.Unmarshal(answer, &out) != nil || len(out.ConsumedCapacity) == 0 {
		return
	}
	var all []consumed
	if out.ConsumedCapacity[0] == '{' {
		all = make([]consumed, 1)
		_ = json.Unmarshal(out.ConsumedCapacity, &all[0]) // what is not a number consumed nothing
	} else {
		_ = json.Unmarshal(out.ConsumedCapacity, &all)
	}
	for i := range all {
		d.chargeTable(parts, &all[i])
	}
}

func (d *dynamoDB) chargeTable(parts []part, c *consumed) {
	own := c.Table.CapacityUnits
	var mine []*part
	for i := range parts {
		if parts[i].table == c.TableName {
			mine = append(mine, &parts[i])
		}
	}
	if len(mine) == 0 {
		return
	}
	write := mine[0].write
	if own > 0 {
		d.tableLimit(c.TableName, write).charge(own)
	}
	for _, p := range mine {
		if p.key != "" && p.index == "" {
			d.partitionLimit(p.table, p.key, write).charge(own / float64(len(mine)))
		}
	}
	for index, units := range c.GlobalSecondaryIndexes {
		name := c.TableName + "/" + index
		d.tableLimit(name, write).charge(units.CapacityUnits)
		for _, p := range mine {
			value := p.indexKeys[index]
			if p.index == index {
				value = p.key
			}
			if value != "" {
				d.partitionLimit(name, value, write).charge(units.CapacityUnits / float64(len(mine)))
			}
		}
	}
}
