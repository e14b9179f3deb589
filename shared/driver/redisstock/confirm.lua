-- confirm: the ledger has decided the order. The order is no longer awaited; units held for it beyond the ledger's
-- become free; what counts against its user is only ever lowered. An order that counts nothing is forgotten. While
-- units are held back after a rebuild, the order gets the ledger's units: the stock may have lost it.
-- If the order is rejected because of its user, reserve refuses the user from then on: a blocked user until ARGV 5,
-- any user after too many such orders.
-- ARGV 1 order 2 user 3 the ledger's units, comma separated, '' for none 4 when the order was rejected because of
--      the user, ms; 0 if it was not 5 until when the user is blocked, ms; 0 if the user is not
-- result {ok} | {more}: call again | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local order, user, units = ARGV[1], ARGV[2], numbers(ARGV[3])
local given = {} -- string keys: with integer keys some Luas would make an array as long as the highest unit
for _, n in ipairs(units) do
  given[tostring(n)] = true
end

call('ZREM', AWAITING, order)
local r = record(order)
if r then
  for _, n in ipairs(r.units) do
    if not given[tostring(n)] then
      release(n, order)
    end
  end
end
local answer = 'ok'
if call('HEXISTS', ITEM, 'back') == 1 then
  for _, n in ipairs(units) do
    if call('HGET', HELD, n) ~= order then
      claim(n, order, user)
      if call('HGET', HELD, n) ~= order then -- far above high-water
        answer = 'more'
      end
    end
  end
end
local counts = charge(user, order, function(c)
  if c and #units > 0 then
    return math.min(c, #units) -- an entry of 0 stays: the drift pass finds users by their entries
  end
end)
if r and r.state == 'q' and ARGV[4] ~= '0' then
  local field = call('HGET', ITEM, 'n:' .. user)
  if not field then
    call('HINCRBY', ITEM, 'refused', 1)
  end
  local n, ends, last = refusals(field, tonumber(ARGV[4]))
  call('HSET', ITEM, 'n:' .. user, n + 1 .. '|' .. whole(math.max(ends, tonumber(ARGV[5]))) .. '|'
    .. whole(math.max(last, tonumber(ARGV[4]))))
end
if r then
  r.state, r.units, r.none, r.backoff, r.body = 'c', units, '', '', ''
  keep(order, r, counts)
end
return {answer}
