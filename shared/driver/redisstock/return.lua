-- return: the ledger has given the order's units back. Those that the order still holds become free, and the order no
-- longer counts against its user. Its record is removed, unless it is awaited again: then confirm removes it.
-- ARGV 1 order 2 user 3 units, comma separated
-- result {ok} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
for _, n in ipairs(numbers(ARGV[3])) do
  if not release(n, ARGV[1]) then
    doubt()
  end
end
charge(ARGV[2], ARGV[1], function() return nil end)
local r = record(ARGV[1])
if r and r.state == 'c' then
  call('HDEL', RES, ARGV[1])
end
return {'ok'}
