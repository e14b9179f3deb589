package main

const (
	pushPushGo  = "shared/flow/front/push/push.go"
	shopOrderGo = "shared/flow/front/shop/order.go"
)

// chosenDrawn are mutants that a tool once drew at random: it negated conditions, dropped calls and so on.
var chosenDrawn = []choice{
	{"repair/repair.go:returns:negate-condition:3", "a condition is the other way round", repairGo,
		`case errors.Is(err, seckill.ErrNotInstalled):`, `case !(errors.Is(err, seckill.ErrNotInstalled)):`},
	{"payment/payment.go:Ours:negate-condition:2", "a condition is the other way round", paymentGo,
		`if err == nil && amount != o.Amount {`, `if !(err == nil && amount != o.Amount) {`},
	{"repair/drift.go:driftBucket:negate-condition:2", "a condition is the other way round", driftGo,
		`case s.Holder == "" && s.Free && !owned:`, `case !(s.Holder == "" && s.Free && !owned):`},
	{"push/push.go:sendTo:negate-condition:2", "a condition is the other way round", pushPushGo,
		`case errors.Is(err, seckill.ErrConnectionGone):`, `case !(errors.Is(err, seckill.ErrConnectionGone)):`},
	{"expire/sent.go:moveOn:junction:2", "and for or, or or for and", sentGo,
		`case o.State == seckill.Received && !now.Before(since.Add(seckill.CompletedAfter)):`,
		`case (o.State == seckill.Received) || (!now.Before(since.Add(seckill.CompletedAfter))):`},
	{"build_gaps.lua:negate-condition:1", "a condition is the other way round", stockDir + "build_gaps.lua",
		`if lost(ARGV[1]) then`, `if not (lost(ARGV[1])) then`},
	{"notify/notify.go:record:return-no-error:2", "an error is not reported", notifyGo,
		`}
	return err`,
		`}
	return nil`},
	{"shop/order.go:Cancel:swallow-error:2", "an error is passed over", shopOrderGo,
		`return Status{}, &seckill.Error{Code: seckill.CodeCancelLimit, Order: id, PayBy: o.PayBy}
			}
			if err != nil {`,
		`return Status{}, &seckill.Error{Code: seckill.CodeCancelLimit, Order: id, PayBy: o.PayBy}
			}
			if false && err != nil {`},
	{"change_common.lua:drop-call:1", "a call is left out", stockDir + "change_common.lua",
		`call('HSET', RES, order, raw)`, ``},
	{"correct_user.lua:negate-condition:1", "a condition is the other way round", stockDir + "correct_user.lua",
		`if not_installed() then`, `if not (not_installed()) then`},
	{"signin/signin.go:SignIn:swallow-error:2", "an error is passed over", signinGo,
		`p, err := f.Issuers.Redeem(ctx, g)
	if err != nil {`,
		`p, err := f.Issuers.Redeem(ctx, g)
	if false && err != nil {`},
	{"repair/repair.go:returns:negate-condition:1", "a condition is the other way round", repairGo,
		`if failed[r.Item] >= maxFailed {`, `if !(failed[r.Item] >= maxFailed) {`},
	{"shop/list.go:current:junction:5", "and for or, or or for and", shopListGo,
		`case err != nil && ctx.Err() == nil: // the read failed, and not because the caller gave up`,
		`case (err != nil) || (ctx.Err() == nil): // the read failed, and not because the caller gave up`},
	{"remove.lua:drop-call:1", "a call is left out", stockDir + "remove.lua",
		`call('UNLINK', key)`, ``},
	{"deliver/deliver.go:record:negate-condition:4", "a condition is the other way round", deliverGo,
		`case err != nil:`, `case !(err != nil):`},
	{"correct.lua:negate-condition:1", "a condition is the other way round", stockDir + "correct.lua",
		`if not_installed() then`, `if not (not_installed()) then`},
	{"reconcile/reconcile.go:compare:negate-condition:2", "a condition is the other way round", reconcileGo,
		`case !found && l.Refund:`, `case !(!found && l.Refund):`},
	{"redraw.lua:drop-call:3", "a call is left out", stockDir + "redraw.lua",
		`call('ZADD', AWAITING, whole(now + tonumber(ARGV[11])), order)`, ``},
	{"correct_user.lua:negate-condition:4", "a condition is the other way round", stockDir + "correct_user.lua",
		`if ARGV[3] == '' then`, `if not (ARGV[3] == '') then`},
	{"erase/retention.go:ended:negate-condition:5", "a condition is the other way round", retentionGo,
		`if erased >= maxErased || pages == maxPages || ctx.Err() != nil {`,
		`if !(erased >= maxErased || pages == maxPages || ctx.Err() != nil) {`},
	{"due.lua:off-by-one:4", "a number is one larger", stockDir + "due.lua",
		`out[#out + 1] = save(order, r)`, `out[#out + 2] = save(order, r)`},
	{"stage/publish.go:publish:negate-condition:3", "a condition is the other way round", stagePublishGo,
		`if l.Version > 0 && !lost && slices.EqualFunc(l.Items, items, sameVersion) &&
			slices.EqualFunc(l.Activities, activities, sameTitle) {`,
		`if !(l.Version > 0 && !lost && slices.EqualFunc(l.Items, items, sameVersion) &&
			slices.EqualFunc(l.Activities, activities, sameTitle)) {`},
	{"refund/decide.go:decide:negate-condition:7", "a condition is the other way round", decideGo,
		`if errors.Is(err, seckill.ErrTooMany) {`, `if !(errors.Is(err, seckill.ErrTooMany)) {`},
	{"return.lua:negate-condition:2", "a condition is the other way round", stockDir + "return.lua",
		`if not release(n, ARGV[1]) then`, `if not (not release(n, ARGV[1])) then`},
	{"due.lua:off-by-one:1", "a number is one larger", stockDir + "due.lua",
		`for _, order in ipairs(call('ZRANGEBYSCORE', AWAITING, '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])) do`,
		`for _, order in ipairs(call('ZRANGEBYSCORE', AWAITING, '-inf', ARGV[1], 'LIMIT', 1, ARGV[2])) do`},
	{"confirm.lua:negate-condition:3", "a condition is the other way round", stockDir + "confirm.lua",
		`if not given[tostring(n)] then`, `if not (not given[tostring(n)]) then`},
	{"stage/publish.go:publish:negate-condition:4", "a condition is the other way round", stagePublishGo,
		`if !errors.Is(err, seckill.ErrStateChanged) {`, `if !(!errors.Is(err, seckill.ErrStateChanged)) {`},
	{"reconcile/reconcile.go:compare:junction:2", "and for or, or or for and", reconcileGo,
		`case !found && l.Refund:`, `case (!found) || (l.Refund):`},
	{"correct_user.lua:junction:1", "and for or, or or for and", stockDir + "correct_user.lua",
		`if (call('HGET', USERS, ARGV[1]) or '') ~= ARGV[2] then`,
		`if (call('HGET', USERS, ARGV[1]) and '') ~= ARGV[2] then`},
	{"fulfil/ship.go:fault:junction:2", "and for or, or or for and", shipGo,
		`case errors.As(err, &e) && e.Code == seckill.CodeOrderUnknown:`,
		`case (errors.As(err, &e)) || (e.Code == seckill.CodeOrderUnknown):`},
}
