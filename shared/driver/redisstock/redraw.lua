-- redraw: the ledger refused one of the order's units, or the order has too few. The refused unit goes to the order
-- that owns it, and another is drawn. "No unit left" is final only after a drift pass that began after it was first
-- seen has compared the stock with the ledger: before that, units may look held that no order owns.
-- ARGV 1 now 2 order 3 user 4 count 5 body hash 6 body 7 created 8 refused unit, 0 for none 9 its owner
--       10 its owner's user  11 first re-send, ms from now
-- result {units, order, record} | {confirmed} | {wait} | {none} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local now, order, user, count, refused = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[8])
local r = record(order)
if r then
  if r.state == 'c' then
    return {'confirmed'}
  elseif r.hash ~= ARGV[5] then
    return {'units', order, r.raw} -- another body under the same key: the stored one counts
  end
end

-- Another order may hold the unit by now; then it must not be moved.
local function give_to_owner()
  local holder = call('HGET', HELD, refused)
  if refused > 0 and (not holder or holder == order) then
    claim(refused, ARGV[9], ARGV[10])
  end
end

if not r then -- lost: restore the record from the message
  give_to_owner()
  r = {state = 'q', count = count, units = {}, none = '', backoff = ARGV[11], created = ARGV[7], user = user,
    hash = ARGV[5], body = ARGV[6]}
  call('ZADD', AWAITING, whole(now + tonumber(ARGV[11])), order)
  charge(user, order, function(c) return c or 0 end)
else
  -- Keep only the units that are still held for the order: a unit lost since then could be drawn for it a second
  -- time.
  local kept = {}
  for _, n in ipairs(r.units) do
    if n == refused then
      give_to_owner()
    elseif call('HGET', HELD, n) == order then
      kept[#kept + 1] = n
    end
  end
  r.units = kept
end

local it = call('HMGET', ITEM, 'stock', 'hw', 'pass', 'checked')
local need = r.count - #r.units
local answer = 'units'
if need > 0 then
  if available(tonumber(it[1]), tonumber(it[2])) < need then
    answer = 'wait'
    if r.none == '' then
      r.none = it[3]
    elseif tonumber(it[4]) > tonumber(r.none) then
      answer = 'none'
    end
  else
    draw(order, need, tonumber(it[2]), r.units)
    table.sort(r.units)
    r.none = ''
    charge(user, order, function() return r.count end)
  end
end
local raw = save(order, r)
if answer == 'units' then
  return {'units', order, raw}
end
return {answer}
