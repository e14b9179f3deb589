-- hold_back: lowers how many units reserve leaves to orders that a build did not see, to what two looks counted.
-- ARGV 1 the build's token 2 number of the look, from 1 3 units that it counted
-- result {ok, units held back; 0 for another build or an earlier look} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local back, token, looks, counted = string.match(call('HGET', ITEM, 'back') or '', '^(%d+)|(.*)|(%d+)|(%d+)$')
if token ~= ARGV[1] or tonumber(looks) + 1 ~= tonumber(ARGV[2]) then
  return {'ok', 0}
end
back = math.min(tonumber(back), math.max(tonumber(counted), tonumber(ARGV[3])))
if back > 0 then
  call('HSET', ITEM, 'back', back .. '|' .. token .. '|' .. ARGV[2] .. '|' .. ARGV[3])
else
  call('HDEL', ITEM, 'back')
end
return {'ok', back}
