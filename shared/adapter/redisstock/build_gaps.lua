-- build_gaps: the numbers from..to that no unit row has become the build's free numbers.
-- ARGV  1 token  2 from  3 to
-- result {ok} | {lost}
if lost(ARGV[1]) then
  return {'lost'}
end
for n = tonumber(ARGV[2]), tonumber(ARGV[3]) do
  if call('HEXISTS', NHELD, n) == 0 then
    call('ZADD', NFREE, n, n)
  end
end
return {'ok'}
