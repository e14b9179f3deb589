-- assert: writes the item's state from the items table. An older version changes nothing; the stock never shrinks.
-- ARGV 1 version 2 stopped (1 or 0) 3 start 4 end 5 limit 6 price 7 stock
-- result {ok} | {not_installed}
local it = call('HMGET', ITEM, 'version', 'stock')
if not it[1] then
  return {'not_installed'}
end
if tonumber(ARGV[1]) < tonumber(it[1]) then
  return {'ok'}
end
call('HSET', ITEM, 'version', ARGV[1], 'stopped', ARGV[2], 'start', ARGV[3], 'end', ARGV[4], 'limit', ARGV[5],
  'price', ARGV[6])
if tonumber(ARGV[7]) > tonumber(it[2]) then
  call('HSET', ITEM, 'stock', ARGV[7])
end
return {'ok'}
