package dynamoledger

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/your-org/seckill/shared/driver/ledger"
)

// Tables outside the ledger: items, and what pages show and no decision needs.
const (
	TableItems   = "items"
	TableCatalog = "catalog"
)

// Schema declares the tables of every deployment as they are in DynamoDB: those of the ledger that have one of their
// own, items, catalog, and those that the rest of the ledger shares.
func Schema() []ledger.Table {
	alone := slices.DeleteFunc(slices.Clone(ledger.Schema), func(t ledger.Table) bool { return homes[t.Name] != "" })
	return slices.Concat(alone, own(), sharedTables())
}

// own declares the tables outside the ledger.
func own() []ledger.Table {
	return []ledger.Table{{Name: TableItems, PK: "id"}, {Name: TableCatalog, PK: "id"}}
}

// Tables that several tables of the ledger share, as collections of rows (ADR 53). TableOffice has what is kept,
// TablePassing what passes or can be counted again.
const (
	TableOffice  = "office"
	TablePassing = "passing"
)

// TablesVersion rises when rows move to another table of DynamoDB. 1 was a table for each table of the ledger.
const TablesVersion = 2

// Keys of the shared tables. A partition key begins with the name of the ledger's table and sep, in the index, too: so
// a role's condition on leading keys names the rows that it is about.
const (
	sharedPK, sharedSK = "pk", "sk"
	indexListed        = "listed"
	listedPK, listedSK = "listed_pk", "listed_sk"

	sep    = "#"
	noSort = "-" // sort key of a row whose table in the ledger has no sort key
)

// homes has the shared table of each table of the ledger that has no table of its own.
var homes = map[string]string{
	ledger.TableReconciliations: TableOffice,
	ledger.TableIdentities:      TableOffice,
	ledger.TableAudit:           TableOffice,
	ledger.TableActivities:      TableOffice,
	ledger.TableQuestions:       TableOffice,
	ledger.TableCounts:          TablePassing,
	ledger.TableCounted:         TablePassing,
	ledger.TableAttempts:        TablePassing,
	ledger.TableActs:            TablePassing,
	ledger.TableProposals:       TablePassing,
	ledger.TableSessions:        TablePassing,
	ledger.TableLogins:          TablePassing,
	ledger.TableLive:            TablePassing,
}

// sharedTables declares them as they are in DynamoDB.
func sharedTables() []ledger.Table {
	return []ledger.Table{
		{Name: TableOffice, PK: sharedPK, SK: sharedSK, Indexes: []ledger.Index{
			{Name: indexListed, PK: listedPK, SK: listedSK},
		}},
		{Name: TablePassing, PK: sharedPK, SK: sharedSK, TTL: "expires"},
	}
}

// home is where DynamoDB has a table of the ledger.
type home struct {
	ledger.Table                   // as the ledger has it
	in           string            // the table's name in DynamoDB, without the prefix
	attrs        map[string]string // of a shared table: its key attributes, by the ledger's key attributes
}

// homeOf returns the home of a table.
func homeOf(t ledger.Table) *home {
	h := &home{Table: t, in: t.Name}
	in, isShared := homes[t.Name]
	if !isShared {
		return h
	}
	h.in, h.attrs = in, map[string]string{t.PK: sharedPK}
	if t.SK != "" {
		h.attrs[t.SK] = sharedSK
	}
	for _, x := range t.Indexes {
		h.attrs[x.PK], h.attrs[x.SK] = listedPK, listedSK
	}
	return h
}

// attr returns an attribute's name in DynamoDB.
func (h *home) attr(name string) string {
	if in, is := h.attrs[name]; is {
		return in
	}
	return name
}

// prefixed reports whether an attribute of a shared table is a partition key, which begins with the table's name.
func prefixed(attr string) bool { return attr == sharedPK || attr == listedPK }

// value returns an attribute's value as DynamoDB has it.
func (h *home) value(name string, v any) any {
	if s, isText := v.(string); isText && prefixed(h.attrs[name]) {
		return h.pk(s)
	}
	return v
}

// key returns the attributes of a row's key.
func (h *home) key(k ledger.Key) map[string]types.AttributeValue {
	out := map[string]types.AttributeValue{h.attr(h.PK): text(h.pk(k.PK))}
	switch {
	case h.SK != "":
		out[h.attr(h.SK)] = text(k.SK)
	case h.attrs != nil:
		out[sharedSK] = text(noSort)
	}
	return out
}

// pk returns a partition key as DynamoDB has it.
func (h *home) pk(pk string) string {
	if h.attrs != nil {
		return h.Name + sep + pk
	}
	return pk
}

// index returns an index's name in DynamoDB.
func (h *home) index(name string) string {
	if h.attrs != nil {
		return indexListed
	}
	return name
}

// restore gives a row of a shared table the attributes that it has in the ledger. It leaves others as they are.
func (r *Rows) restore(row ledger.Row) ledger.Row {
	pk, isShared := row[sharedPK].(string)
	name, _, _ := strings.Cut(pk, sep)
	h := r.homes[name]
	if !isShared || h == nil {
		return row
	}
	for attr, in := range h.attrs {
		v, is := row[in]
		if s, isText := v.(string); isText && prefixed(in) {
			v = strings.TrimPrefix(s, name+sep)
		}
		if is {
			delete(row, in)
			row[attr] = v
		}
	}
	if h.SK == "" {
		delete(row, sharedSK)
	}
	return row
}
