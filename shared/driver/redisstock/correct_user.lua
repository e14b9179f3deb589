-- correct_user: replaces a user's entries if they are still as seen and none of the user's orders is awaited.
-- Confirmed records of orders that no longer count against the user and hold nothing go.
-- ARGV 1 user 2 entries as seen 3 entries by the ledger, '' for none
-- result {ok, 1 if it changed something, else 0} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
if (call('HGET', USERS, ARGV[1]) or '') ~= ARGV[2] then
  return {'ok', 0}
end
for o in string.gmatch(ARGV[2], '(%w+):%d+') do
  if call('ZSCORE', AWAITING, o) then
    return {'ok', 0}
  end
end
if ARGV[3] == '' then
  call('HDEL', USERS, ARGV[1])
else
  call('HSET', USERS, ARGV[1], ARGV[3])
end
local left = {}
for o in string.gmatch(ARGV[3], '(%w+):%d+') do
  left[o] = true
end
for o in string.gmatch(ARGV[2], '(%w+):%d+') do
  local r = not left[o] and record(o)
  if r then
    keep(o, r)
  end
end
return {'ok', 1}
