-- confirm: the ledger has decided the order. The order is no longer awaited; units held for it beyond the ledger's
-- become free; what counts against its user is only ever lowered. An order that counts nothing is forgotten.
-- ARGV 1 order 2 user 3 the ledger's units, comma separated, '' for none
-- result {ok} | {not_installed}
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
local counts = charge(user, order, function(c)
  if c and #units > 0 then
    return math.min(c, #units) -- an entry of 0 stays: the drift pass finds users by their entries
  end
end)
if r then
  r.state, r.units, r.none, r.backoff, r.body = 'c', units, '', '', ''
  keep(order, r, counts)
end
return {'ok'}
