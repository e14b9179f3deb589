-- install: makes a build live if nothing is installed, the token owns the build and the build is complete; otherwise
-- drops it.
-- KEYS 1-4 the build, 5-10 the live item, free, held, res, awaiting, users
-- ARGV 1 token 2 units 3 users 4 high-water 5 start 6 end 7 limit 8 price 9 stock 10 version 11 stopped (1 or 0)
--      12 units held back
-- result {ok} | {lost}
if lost(ARGV[1]) then
  return {'lost'}
end
if call('EXISTS', KEYS[5]) == 1 or call('HLEN', NHELD) ~= tonumber(ARGV[2]) or call('HLEN', NUSERS) ~= tonumber(ARGV[3])
  or call('ZCARD', NFREE) ~= tonumber(ARGV[4]) - tonumber(ARGV[2]) then
  call('UNLINK', NEW, NFREE, NHELD, NUSERS)
  return {'lost'}
end
call('UNLINK', NEW, KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10])
local function move(from, to)
  if call('EXISTS', from) == 1 then
    call('RENAME', from, to)
  end
end
move(NFREE, KEYS[6])
move(NHELD, KEYS[7])
move(NUSERS, KEYS[10])
call('HSET', KEYS[5], 'hw', ARGV[4], 'start', ARGV[5], 'end', ARGV[6], 'limit', ARGV[7], 'price', ARGV[8], 'stock',
  ARGV[9], 'version', ARGV[10], 'stopped', ARGV[11], 'pass', 0, 'checked', 0)
if ARGV[12] ~= '0' then
  call('HSET', KEYS[5], 'back', ARGV[12] .. '|' .. ARGV[1] .. '|0|' .. ARGV[12])
end
return {'ok'}
