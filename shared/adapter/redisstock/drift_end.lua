-- drift_end: the pass has compared and corrected everything. Ignored when another pass began meanwhile, or when the stock
-- has forgotten that this one began.
-- ARGV  1 the pass's token  2 its number
-- result {ok} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
if call('HGET', ITEM, 'pass_token') == ARGV[1] then
  call('HSET', ITEM, 'checked', ARGV[2])
end
return {'ok'}
