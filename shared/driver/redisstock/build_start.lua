-- build_start: begins a build, or takes it over from a builder that has been idle for a while.
-- ARGV 1 token 2 now 3 how long a build must be idle before a takeover, ms
-- result {ok} | {busy}
local at = call('HGET', NEW, 'at')
if at then
  -- The other builder's clock may be ahead, so a last use in the near future counts as recent, too.
  if math.abs(tonumber(ARGV[2]) - tonumber(at)) < tonumber(ARGV[3]) then
    return {'busy'}
  end
end
call('UNLINK', NEW, NFREE, NHELD, NUSERS, NBUYERS)
call('HSET', NEW, 'token', ARGV[1], 'at', ARGV[2])
return {'ok'}
