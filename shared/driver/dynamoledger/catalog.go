package dynamoledger

import (
	"context"
	"fmt"

	"github.com/your-org/seckill/shared/driver/ledger"
	"github.com/your-org/seckill/shared/seckill"
)

// CatalogVersion is the schema version of description rows, in their attribute v.
const CatalogVersion int64 = 1

func descriptionKey(item string) ledger.Key {
	return ledger.Key{Table: TableCatalog, PK: "item#" + item}
}

// Description implements seckill.Items. It reads eventually consistently first, and consistently only if that result
// is too old. An item whose Described is 0 has no row.
func (t *Items) Description(ctx context.Context, id string, described int64) (seckill.Description, error) {
	if described == 0 {
		return seckill.Description{}, ctx.Err()
	}
	var version int64
	for _, consistently := range []bool{false, true} {
		row, _, err := t.rows.get(ctx, descriptionKey(id), consistently)
		if err != nil {
			return seckill.Description{}, fmt.Errorf("dynamoledger: description of item %s: %w", id, err)
		}
		version, _ = row["version"].(int64)
		if version >= described {
			return decodeDescription(row)
		}
	}
	return seckill.Description{}, unreadable(TableCatalog, descriptionKey(id).PK,
		fmt.Sprintf(" is of version %d, want %d", version, described))
}

func encodeDescription(it *seckill.Item, d *seckill.Description) ledger.Row {
	return ledger.Row{"v": CatalogVersion, "version": it.Version, "detail": d.Detail, "covers": d.Covers}
}

// decodeDescription reads what encodeDescription wrote.
func decodeDescription(row ledger.Row) (seckill.Description, error) {
	key, _ := row["id"].(string)
	if v, ok := row["v"].(int64); !ok || v != CatalogVersion {
		return seckill.Description{}, unreadable(TableCatalog, key,
			fmt.Sprintf(" has version v=%v, this code reads %d", row["v"], CatalogVersion))
	}
	a := attributes{row: row}
	d := seckill.Description{Covers: field[[]string](&a, "covers"), Detail: field[string](&a, "detail")}
	if a.bad != "" {
		return seckill.Description{}, unreadable(TableCatalog, key,
			fmt.Sprintf(": attribute %s is missing or of another type", a.bad))
	}
	return d, nil
}
