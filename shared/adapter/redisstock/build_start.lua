-- build_start: begins a build, and takes it from a builder that has not touched it for a while.
-- ARGV  1 token  2 now  3 how long a build may lie untouched, ms
-- result {ok} | {busy}
local at = call('HGET', NEW, 'at')
if at then
  -- The builder's clock may be ahead of this one's: a touch in the near future is a fresh one too.
  if math.abs(tonumber(ARGV[2]) - tonumber(at)) < tonumber(ARGV[3]) then
    return {'busy'}
  end
end
call('UNLINK', NEW, NFREE, NHELD, NUSERS)
call('HSET', NEW, 'token', ARGV[1], 'at', ARGV[2])
return {'ok'}
