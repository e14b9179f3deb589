-- change_common.lua: follows common.lua in the scripts that call one of its functions. reserve calls none.
local function not_installed()
  return call('EXISTS', ITEM) == 0
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
