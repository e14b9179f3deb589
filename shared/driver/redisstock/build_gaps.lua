-- build_gaps: adds those of the units from..to that have no unit row to the build's free units.
-- ARGV 1 token 2 now 3 from 4 to
-- result {ok} | {lost}
if lost(ARGV[1]) then
  return {'lost'}
end
touch(ARGV[2])
for n = tonumber(ARGV[3]), tonumber(ARGV[4]) do
  if call('HEXISTS', NHELD, n) == 0 then
    call('ZADD', NFREE, n, n)
  end
end
return {'ok'}
