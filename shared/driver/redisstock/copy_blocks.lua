-- copy_blocks: writes or forgets blocks of users beside the item, up to a number. What was listed before a change does
-- not undo it.
-- ARGV 1 now 2 when the blocks were listed, '' if they were changed now 3 how long the list may lag, ms 4 most fields
--      then for each block its user (after * if it holds for every item) and its end, 0 for good, '' to forget it
-- result {ok} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local changed = tonumber(call('HGET', ITEM, 'blocks_at') or '0')
if ARGV[2] == '' then
  call('HSET', ITEM, 'blocks_at', whole(math.max(changed, tonumber(ARGV[1]))))
elseif changed > tonumber(ARGV[2]) - tonumber(ARGV[3]) then
  return {'ok'}
end
local others = tonumber(call('HGET', ITEM, 'refused') or '0')
for i = 5, #ARGV, 2 do
  if ARGV[i + 1] == '' then
    call('HDEL', ITEM, 'b:' .. ARGV[i])
    if ARGV[2] == '' and call('HDEL', ITEM, 'n:' .. string.match(ARGV[i], '[^*]+')) == 1 then
      call('HINCRBY', ITEM, 'refused', -1)
    end
  elseif call('HLEN', ITEM) - others < tonumber(ARGV[4]) or call('HEXISTS', ITEM, 'b:' .. ARGV[i]) == 1 then
    call('HSET', ITEM, 'b:' .. ARGV[i], ARGV[i + 1])
  end
end
return {'ok'}
