-- build_units: adds sold units to the build.
-- ARGV 1 token 2 now, then unit, order, user, bit of the user for each
-- result {ok, users that the build had not seen before} | {lost}
if lost(ARGV[1]) then
  return {'lost'}
end
touch(ARGV[2])
local first = 0
for i = 3, #ARGV, 4 do
  local n, order, user, bit = ARGV[i], ARGV[i + 1], ARGV[i + 2], ARGV[i + 3]
  if call('HSETNX', NHELD, n, order) == 1 then -- a row that was added before counts once
    local entries = call('HGET', NUSERS, user)
    if not entries then
      first = first + 1
      entries = order .. ':1'
    else
      local changed
      entries, changed = string.gsub(entries, order .. ':(%d+)',
        function(c) return order .. ':' .. (tonumber(c) + 1) end)
      if changed == 0 then
        entries = entries .. ',' .. order .. ':1'
      end
    end
    call('HSET', NUSERS, user, entries)
    if call('SETBIT', NBUYERS, bit, 1) == 0 then
      call('HINCRBY', NEW, 'seen', 1)
    end
  end
end
return {'ok', first}
