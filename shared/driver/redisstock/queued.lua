-- queued: returns the user's awaited reservation with this order id, or the newest one.
-- ARGV 1 user 2 order, '' for the newest
-- result {ok, order, record} | {ok} if there is none | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local found = {'ok'}
for o in string.gmatch(call('HGET', USERS, ARGV[1]) or '', '(%w+):%d+') do
  if ARGV[2] == '' or ARGV[2] == o then
    local r = record(o)
    if r and r.state == 'q' then
      found = {'ok', o, r.raw}
    end
  end
end
return found
