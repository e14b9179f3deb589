-- queued: the user's newest reservation that waits to be placed.
-- ARGV  1 user
-- result {ok, order or ''} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local newest = ''
for o in string.gmatch(call('HGET', USERS, ARGV[1]) or '', '(%w+):%d+') do
  local r = record(o)
  if r and r.state == 'q' then
    newest = o
  end
end
return {'ok', newest}
