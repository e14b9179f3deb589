-- remove: forgets an item whose sale is long over, unless reservations still wait to be placed.
-- KEYS  1-4 the build, 5-10 the live item, free, held, res, awaiting, users
-- ARGV  none
-- result {ok} | {awaited}
if call('ZCARD', KEYS[9]) > 0 then
  return {'awaited'}
end
for _, key in ipairs(KEYS) do
  call('DEL', key)
end
return {'ok'}
