// Command stage is the step that brings items into the stock, as a Lambda function that runs each minute.
package main

import (
	"seckill/functions/internal/boot"
	"seckill/shared/adapter/apigw"
	"seckill/shared/adapter/config"
	"seckill/shared/flow/stage"
)

func main() {
	boot.Run("stage", func(s config.Stage, b *boot.Boot) apigw.Handler {
		flow := stage.New(stage.Deps{Stock: b.Stock(s.Redis), Items: b.Items(), Clock: b.Clock, IDs: b.IDs})
		return apigw.Schedule(flow.Run)
	})
}
