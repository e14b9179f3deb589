-- users: returns a page of the users that units count against.
-- ARGV 1 cursor 2 approximate page size
-- result {ok, next cursor, user, entries, 1 if one of the orders is awaited else 0, ...} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local page = call('HSCAN', USERS, ARGV[1], 'COUNT', ARGV[2])
local out = {'ok', page[1]}
for i = 1, #page[2], 2 do
  local busy = 0
  for o in string.gmatch(page[2][i + 1], '(%w+):%d+') do
    if call('ZSCORE', AWAITING, o) then
      busy = 1
    end
  end
  out[#out + 1] = page[2][i]
  out[#out + 1] = page[2][i + 1]
  out[#out + 1] = busy
end
return out
