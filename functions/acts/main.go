// Command acts keeps the suspicious acts that the functions buy and admit write into their logs, as a Lambda function
// that these log groups call; it executes the operator's commands about acts.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/functions/internal/office"
	"github.com/your-org/seckill/shared/api/actlog"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/app"
	"github.com/your-org/seckill/shared/seckill"
)

const tailLen = 6 // bytes of a line's hash: tells acts of one millisecond apart

func main() {
	aws.Run("acts", func(d *aws.Drivers) apigw.Handler {
		flow := app.Acts(d)
		return apigw.LogsOr(func(ctx context.Context, lines []apigw.LogLine) error {
			return flow.Keep(ctx, parse(lines))
		}, office.Serve(d, operator.NewActHandler(flow)), d.Log)
	})
}

// parse returns the suspicious acts of log lines. A line that comes twice is the same act, because an act's id is
// made of its time and a hash of its line's id.
func parse(lines []apigw.LogLine) (list []seckill.Act) {
	for _, line := range lines {
		sum := sha256.Sum256([]byte(line.ID))
		if a, ok := actlog.Parse([]byte(line.Message), hex.EncodeToString(sum[:tailLen])); ok {
			list = append(list, a)
		}
	}
	return list
}
