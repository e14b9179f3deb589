-- build_gaps: the numbers from..to that no unit row has become the build's free numbers.
-- ARGV  1 token  2 now  3 from  4 to
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
