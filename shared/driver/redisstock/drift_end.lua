-- drift_end: the pass has compared and corrected everything. Ignored if the stock does not remember its beginning.
-- ARGV 1 the pass's token 2 its number
-- result {ok} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local it = call('HMGET', ITEM, 'passes', 'checked')
for p in string.gmatch(it[1] or '', '[^,]+') do
  if p == ARGV[1] .. ':' .. ARGV[2] and tonumber(ARGV[2]) > tonumber(it[2]) then
    call('HSET', ITEM, 'checked', ARGV[2])
  end
end
return {'ok'}
