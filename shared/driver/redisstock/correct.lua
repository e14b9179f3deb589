-- correct: moves one unit to where the ledger has it, if it is still as seen and does not wait for its holder.
-- ARGV 1 unit 2 holder as seen, '' for none 3 owner by the ledger, '' for none 4 the owner's user
-- result {ok, 1 if it changed something, else 0} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local n, holder, owner = tonumber(ARGV[1]), ARGV[2], ARGV[3]
if (call('HGET', HELD, n) or '') ~= holder or holder == owner and holder ~= '' then
  return {'ok', 0}
end
local r, counts
if holder ~= '' then
  if waits(n, holder) then
    return {'ok', 0}
  end
  r = record(holder)
  if r and r.state == 'c' then -- an awaited order counts what its record lists, which the unit is not
    counts = charge(r.user, holder, function(c) return c and math.max(c - 1, 0) end)
  end
end
local changed = 1
if owner ~= '' then
  claim(n, owner, ARGV[4])
elseif n > tonumber(call('HGET', ITEM, 'hw')) then
  return {'ok', 0}
else
  call('HDEL', HELD, n)
  changed = call('ZADD', FREE, n, n)
end
if r and r.state == 'c' then
  keep(holder, r, counts)
end
return {'ok', changed}
