-- common.lua: prepended to every script. It names the keys of one item and has what reserve shares with others: Redis
-- makes each function anew at each call, so what reserve does not call is in change_common.lua.
--
-- KEYS 1 item hash start end limit price stock version stopped hw; pass passes checked (drift passes); b:USER and
--                  b:*USER: when the user's block, for the item or every item, ends (0: never); blocks_at;
--                  back: units|token|looks|counted: units that a build holds back for waiting orders that it did
--                  not see, how often somebody looked whether there are any, and how many units then;
--                  n:USER: n|until|last: n of the user's orders were rejected because of the user, the latest
--                  at last; the user counts as blocked until until; refused: how many users have n:USER
--       2 free      zset  returned units, score = unit: lowest first; adding twice has no effect
--       3 held      hash  unit -> order
--       4 res       hash  order -> record
--       5 awaiting  zset  order, score = when to send its message again (ms)
--       6 users     hash  user -> "order:units,order:units", oldest first
--       7 buyers    string bitmap: bit seckill.BuyerBit(user) is 1 for users whose purchase reserve saw, or the build.
--                  Field seen of the item hash is its version: bits that are 1|the last order that added one, or the
--                  token of the build
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
