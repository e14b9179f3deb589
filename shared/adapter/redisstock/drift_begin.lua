-- drift_begin: a drift pass starts. Passes are numbered, so that "began after" needs no two clocks.
-- ARGV  1 the pass's token
-- result {ok, pass} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
call('HSET', ITEM, 'pass_token', ARGV[1])
return {'ok', call('HINCRBY', ITEM, 'pass', 1)}
