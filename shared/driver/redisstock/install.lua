-- install: makes a build live if nothing is installed, the token owns the build and the build is complete; otherwise
-- drops it.
-- KEYS 1-5 the build, 6-12 the live item, free, held, res, awaiting, users, buyers
-- ARGV 1 token 2 units 3 users 4 high-water 5 start 6 end 7 limit 8 price 9 stock 10 version 11 stopped (1 or 0)
--      12 units held back
-- result {ok} | {lost}
if lost(ARGV[1]) then
  return {'lost'}
end
if call('EXISTS', KEYS[6]) == 1 or call('HLEN', NHELD) ~= tonumber(ARGV[2]) or call('HLEN', NUSERS) ~= tonumber(ARGV[3])
  or call('ZCARD', NFREE) ~= tonumber(ARGV[4]) - tonumber(ARGV[2]) then
  call('UNLINK', NEW, NFREE, NHELD, NUSERS, NBUYERS)
  return {'lost'}
end
local seen = (call('HGET', NEW, 'seen') or '0') .. '|' .. ARGV[1]
call('UNLINK', NEW, KEYS[7], KEYS[8], KEYS[9], KEYS[10], KEYS[11], KEYS[12])
local function move(from, to)
  if call('EXISTS', from) == 1 then
    call('RENAME', from, to)
  end
end
move(NFREE, KEYS[7])
move(NHELD, KEYS[8])
move(NUSERS, KEYS[11])
move(NBUYERS, KEYS[12])
call('HSET', KEYS[6], 'hw', ARGV[4], 'start', ARGV[5], 'end', ARGV[6], 'limit', ARGV[7], 'price', ARGV[8], 'stock',
  ARGV[9], 'version', ARGV[10], 'stopped', ARGV[11], 'pass', 0, 'checked', 0, 'seen', seen)
if ARGV[12] ~= '0' then
  call('HSET', KEYS[6], 'back', ARGV[12] .. '|' .. ARGV[1] .. '|0|' .. ARGV[12])
end
return {'ok'}
