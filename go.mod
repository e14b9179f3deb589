module seckill

go 1.25.0
