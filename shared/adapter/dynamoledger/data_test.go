package dynamoledger_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"seckill/shared/adapter/dynamoledger"
	"seckill/shared/seckill"
)

// attributeRow matches a row of docs/DATA.md's list of attributes.
var attributeRow = regexp.MustCompile(`(?m)^\| (\w+) \| (S|N|L|SS) \|`)

func TestDataPageListsWhatAnItemsRowHas(t *testing.T) {
	page, err := os.ReadFile("../../../docs/DATA.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## The items table\n")
	section, _, _ = strings.Cut(section, "\n## ")
	listed := map[string]string{}
	for _, m := range attributeRow.FindAllStringSubmatch(section, -1) {
		listed[m[1]] = m[2]
	}

	w := &wire{script: times(1, answer(200, `{}`))}
	it := seckill.Item{ID: "1", Commodity: seckill.Commodity{ID: "9", Title: "t"}, Price: 1, Start: begun, End: begun.Add(1),
		Stock: 1, Limit: 1, Buckets: 16, Version: 1}
	if err := dynamoledger.New(w.config(), dynamoledger.Options{}).Items().Put(ctx, it); err != nil {
		t.Fatal(err)
	}
	var sent struct {
		TransactItems []struct {
			Put struct{ Item map[string]map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(w.requests[0].Body), &sent); err != nil {
		t.Fatal(err)
	}
	written := map[string]string{}
	for attr, v := range sent.TransactItems[0].Put.Item {
		for kind := range v {
			written[attr] = kind
		}
	}
	if diff := cmp.Diff(written, listed); diff != "" {
		t.Errorf("items: docs/DATA.md (+) and what Put writes (-) differ:\n%s", diff)
	}
}
