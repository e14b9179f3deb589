// Command notify is the step behind Alipay's callback as a Lambda function behind API Gateway: it records authentic
// payments.
package main

import (
	"github.com/your-org/seckill/functions/internal/aws"
	"github.com/your-org/seckill/shared/api/apigw"
	"github.com/your-org/seckill/shared/api/httpapi"
	"github.com/your-org/seckill/shared/app"
)

func main() {
	aws.Run("notify", func(d *aws.Drivers) apigw.Handler {
		return apigw.HTTP(httpapi.NewNotify(app.Notify(d), d.Options(httpapi.Options{}, nil)))
	})
}
