-- reserve: draws units for a request and stores the request whole (the outbox), or answers why not.
-- ARGV 1 now 2 order 3 user 4 count 5 keyed (1 or 0) 6 body hash (count, address) 7 body 8 first re-send, ms from now
--      9 bit of the user 10 the version of the buyers that the caller knows
-- result {reserved, order, units} | {again, order, record} | {before|reused, order} | {limit, newest order, limit}
--        | {not_started, start in ms} | {not_installed|blocked|few}
--        | {none|ended|stopped|held_back, reservations that wait, version of the buyers, buyers, if it is another}
local REFUSALS = 5 -- seckill.MaxRefusals
local BUYERS = KEYS[7]
local MOST = 16384 -- buyers: with more, too many others look like one, and nobody is told who they are
local now, order, user, count = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local it = call('HMGET', ITEM, 'start', 'end', 'limit', 'stock', 'hw', 'stopped', 'b:' .. user, 'b:*' .. user,
  'n:' .. user, 'back', 'seen')
if not it[1] then
  return {'not_installed'}
end

local r = record(order)
if r then
  if r.hash ~= ARGV[6] then
    return {'reused', order}
  elseif r.state == 'q' then
    return {'again', order, r.raw}
  end
  return {'before', order}
end

local entries = call('HGET', USERS, user)
local units, newest = 0, ''
if entries then
  local again
  for o, c in string.gmatch(entries, '(%w+):(%d+)') do
    units, newest = units + tonumber(c), o
    if o == order then
      return {'before', order} -- the record was lost; a rebuild restored the entry from the ledger
    end
    if ARGV[5] == '0' then
      local q = record(o)
      if q and q.state == 'q' and q.hash == ARGV[6] then -- the same count and address
        again = {'again', o, q.raw}
      end
    end
  end
  if again then
    return again
  end
end

local function holds(ends)
  return ends and (ends == '0' or now < tonumber(ends))
end
local refusal -- the caller remembers it, and who has bought
if now < tonumber(it[1]) then
  return {'not_started', it[1]}
elseif now >= tonumber(it[2]) then
  refusal = 'ended'
elseif it[6] == '1' then
  refusal = 'stopped'
elseif holds(it[7]) or holds(it[8]) then
  return {'blocked'}
elseif units + count > tonumber(it[3]) then
  return {'limit', newest, it[3]}
end
if it[9] and not refusal then
  local n, ends = refusals(it[9], now)
  if now < ends then
    return {'blocked'}
  elseif n >= REFUSALS then
    return {'limit', newest, it[3]}
  end
end
local stock, hw, back = tonumber(it[4]), tonumber(it[5]), 0
if it[10] then
  back = tonumber(string.match(it[10], '^%d+'))
end
if not refusal and stock - hw - back < count then -- units that came back are needed, too
  local left = available(stock, hw)
  if left <= 0 then
    refusal = 'none'
  elseif left < count then
    return {'few'}
  elseif left - back < count then
    refusal = 'held_back'
  end
end
if refusal then
  local version, buyers = tostring(it[11]), ''
  if version ~= ARGV[10] and (refusal ~= 'held_back' or count == 1)
    and tonumber(string.match(version, '^%d+') or 0) <= MOST then
    buyers = call('GET', BUYERS) or ''
  end
  return {refusal, call('ZCARD', AWAITING), version, buyers}
end

local drawn = {}
draw(order, count, hw, drawn)
local csv = table.concat(drawn, ',')
call('HSET', RES, order,
  'q|' .. count .. '|' .. csv .. '||' .. ARGV[8] .. '|' .. ARGV[1] .. '|' .. user .. '|' .. ARGV[6] .. '|' .. ARGV[7])
call('ZADD', AWAITING, whole(now + tonumber(ARGV[8])), order)
call('HSET', USERS, user, (entries and entries .. ',' or '') .. order .. ':' .. count)
if call('SETBIT', BUYERS, ARGV[9], 1) == 0 then
  call('HSET', ITEM, 'seen', tonumber(string.match(tostring(it[11]), '^%d+') or 0) + 1 .. '|' .. order)
end
return {'reserved', order, csv}
