-- common.lua: prepended to every script. It names the keys of one item and has what several scripts read and write.
--
-- KEYS 1 item hash start end limit price stock version stopped hw; pass passes checked (drift passes); b:USER and
--                  b:*USER: when the user's block, for the item or every item, ends (0: never); blocks_at;
--                  n:USER: n|until|last: n of the user's orders were rejected because of the user, the latest
--                  at last; the user counts as blocked until until; refused: how many users have n:USER
--       2 free      zset  returned units, score = unit: lowest first; adding twice has no effect
--       3 held      hash  unit -> order
--       4 res       hash  order -> record
--       5 awaiting  zset  order, score = when to send its message again (ms)
--       6 users     hash  user -> "order:units,order:units", oldest first
--
-- A record is state|count|units|none|backoff|created|user|hash|body. state: q queued, c confirmed. none: the number
-- of the last drift pass begun when the stock first had no unit for it, or empty. body is opaque and may hold any
-- byte. A record is kept while its order is awaited, and after that while a unit is held for it or it counts against
-- its user: there are never more records than awaiting, held and the orders in users together.
--
-- Times are milliseconds and come as arguments. No key has a TTL: a full cache evicts keys with a TTL first.
local call = redis.call
local ITEM, FREE, HELD, RES, AWAITING, USERS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]

local function whole(x)
  return string.format('%.0f', x)
end

local function not_installed()
  return call('EXISTS', ITEM) == 0
end

-- refusals splits a field n:USER, which is false if there is none: n, until, last. All are 0 once the field is too old.
local REFUSALS_KEPT = 1800000 -- seckill.RefusalsKept, in ms
local function refusals(field, now)
  local n, ends, last = string.match(field or '', '^(%d+)|(%d+)|(%d+)$')
  if not n or now >= tonumber(last) + REFUSALS_KEPT then
    return 0, 0, 0
  end
  return tonumber(n), tonumber(ends), tonumber(last)
end

local function numbers(csv)
  local t = {}
  for n in string.gmatch(csv, '%d+') do
    t[#t + 1] = tonumber(n)
  end
  return t
end

local function record(order)
  local raw = call('HGET', RES, order)
  if not raw then
    return nil
  end
  local state, count, units, none, backoff, created, user, hash, body =
    string.match(raw, '^(%a)|(%d+)|([%d,]*)|(%d*)|(%d*)|(%d*)|([^|]*)|(%w*)|(.*)$')
  return {
    raw = raw, state = state, count = tonumber(count), units = numbers(units), none = none,
    backoff = backoff, created = created, user = user, hash = hash, body = body,
  }
end

-- save writes a record and returns it as stored.
local function save(order, r)
  local raw = r.state .. '|' .. r.count .. '|' .. table.concat(r.units, ',') .. '|' .. r.none .. '|' .. r.backoff .. '|'
    .. r.created .. '|' .. r.user .. '|' .. r.hash .. '|' .. r.body
  call('HSET', RES, order, raw)
  return raw
end

-- waits reports whether a unit waits for the ledger's decision about its holder: the holder is awaited, and its record
-- lists the unit. A restored stock may have units held for an awaited order that its record does not list; confirm
-- would leave these held.
local function waits(n, holder)
  if not call('ZSCORE', AWAITING, holder) then
    return false
  end
  local units = string.match(tostring(call('HGET', RES, holder)), '^%a|%d+|([%d,]*)')
  return string.find(',' .. tostring(units) .. ',', ',' .. n .. ',', 1, true) ~= nil
end

-- keep writes a confirmed record if its order counts against its user or a unit is held for it, and removes it
-- otherwise. After a loss of data the order's units may look like another's for a while; its record still knows the
-- body of its key.
local function keep(order, r, counts)
  for _, n in ipairs(r.units) do
    counts = counts or call('HGET', HELD, n) == order
  end
  if counts then
    save(order, r)
  else
    call('HDEL', RES, order)
  end
end

-- charge sets what one order counts against its user, and returns it: how(units so far, or nil) returns the new number,
-- nil for none.
local function charge(user, order, how)
  local old = call('HGET', USERS, user) or ''
  local list, found, counts = {}, false, nil
  for o, c in string.gmatch(old, '(%w+):(%d+)') do
    local n = tonumber(c)
    if o == order then
      found = true
      n = how(n)
      counts = n
    end
    if n then
      list[#list + 1] = o .. ':' .. n
    end
  end
  if not found then
    counts = how(nil)
    if counts then
      list[#list + 1] = order .. ':' .. counts
    end
  end
  local new = table.concat(list, ',')
  if new ~= old and new == '' then
    call('HDEL', USERS, user)
  elseif new ~= old then
    call('HSET', USERS, user, new)
  end
  return counts
end

-- available returns how many units can be drawn.
local function available(stock, hw)
  return call('ZCARD', FREE) + math.max(stock - hw, 0)
end

-- draw hands out count available units, the lowest first, and appends them to units.
local function draw(order, count, hw, units)
  local got = call('ZPOPMIN', FREE, count)
  for i = 1, #got, 2 do -- member, score, member, score
    units[#units + 1] = tonumber(got[i])
    call('HSET', HELD, got[i], order)
  end
  local more = count - #got / 2
  for n = hw + 1, hw + more do
    units[#units + 1] = n
    call('HSET', HELD, n, order)
  end
  if more > 0 then
    call('HSET', ITEM, 'hw', hw + more)
  end
end

-- doubt takes the proof from all drift passes under way: a unit goes to an order that a row named a while ago, or one
-- comes back that the stock did not give to its order. A pass may have looked at the unit before; a pass that begins
-- later finds what is wrong.
local function doubt()
  call('HDEL', ITEM, 'passes')
end

-- claim holds a unit for its owner: high-water rises to the unit, the skipped units become free, and the unit counts
-- against the owner's user. One call frees at most FILL skipped units, because Redis serves no other command
-- meanwhile; if the unit is then still above high-water, the next call continues.
local FILL = 5000
local function claim(n, owner, user)
  local hw = tonumber(call('HGET', ITEM, 'hw'))
  local top = math.min(n, hw + FILL)
  for k = hw + 1, top do
    call('ZADD', FREE, k, k)
  end
  if top > hw then
    call('HSET', ITEM, 'hw', top)
  end
  if n > top then
    return
  end
  doubt()
  call('ZREM', FREE, n)
  call('HSET', HELD, n, owner)
  if user ~= '' then
    charge(user, owner, function(c) return c or 0 end)
  end
end

-- release makes a unit free if this order still holds it, and reports whether it did.
local function release(n, order)
  if call('HGET', HELD, n) ~= order then
    return false
  end
  call('HDEL', HELD, n)
  call('ZADD', FREE, n, n)
  return true
end
