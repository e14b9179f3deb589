//go:build real

package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/your-org/seckill/local"
	"github.com/your-org/seckill/local/localtest"
	"github.com/your-org/seckill/shared/drivertest/dynamotest"
	"github.com/your-org/seckill/shared/seckill"
)

var blockLines = flag.Int("lines", 10_000, "blocks that TestBlocksImportIntoARealTable imports")

// TestBlocksImportIntoARealTable imports blocks of an item of its own into the DynamoDB-compatible server, as fast as
// it takes them, and once more: `-args -lines 100000` takes a minute.
func TestBlocksImportIntoARealTable(t *testing.T) {
	n := *blockLines
	dynamo := os.Getenv(dynamotest.Variable)
	if dynamo == "" {
		t.Fatal("no servers: run this by e2e/servers/with.sh")
	}
	it := local.DemoItems(time.Now(), 1, 1)[1]
	it.ID = strconv.FormatInt(time.Now().UnixNano(), 10) // the tables survive the test
	sys := localtest.Start(t, local.Options{Items: []seckill.Listing{it}, Servers: local.Servers{DynamoDB: dynamo}})
	list, err := os.ReadFile(blockList(t, n))
	if err != nil {
		t.Fatal(err)
	}
	file := written(t, "list.csv", []byte(strings.ReplaceAll(string(list), ",,a ", ","+it.ID+",a ")))
	for _, want := range []string{fmt.Sprintf("%d new, 0 changed, 0 unchanged", n),
		fmt.Sprintf("0 new, 0 changed, %d unchanged", n)} {
		began := time.Now()
		code, stdout, stderr := command(t, "blocks", "import", file, "--rate", "10000", "--url", sys.URL())
		if code != exitOK || stdout != fmt.Sprintf("Imported %d blocks: %s.\n", n, want) {
			t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
		}
		t.Logf("%s in %.1f s, %d lines of progress", want, time.Since(began).Seconds(), strings.Count(stderr, "\n"))
	}
	for _, user := range []string{"100000", strconv.Itoa(100_000 + n - 1)} {
		p, err := sys.Ledger.BlocksOn(t.Context(), seckill.UserSubject(user), "", 1000)
		if err != nil || len(p) == 0 || p[len(p)-1].Item != it.ID || p[len(p)-1].Reason != "a list of scripts" {
			t.Errorf("user %s: %+v, %v", user, p, err)
		}
	}
}
