-- scan: held, free and awaiting of the numbers of one ledger bucket, read together, up to high-water.
-- ARGV  1 bucket  2 buckets
-- result {ok, number, holder or '', flag, ...}, flag: a awaiting holder, h other holder, f free, n nowhere | {not_installed}
local hw = tonumber(call('HGET', ITEM, 'hw'))
if not hw then
  return {'not_installed'}
end
local bucket, buckets, out = tonumber(ARGV[1]), tonumber(ARGV[2]), {'ok'}
if bucket == 0 then
  bucket = buckets
end
for n = bucket, hw, buckets do
  local holder = call('HGET', HELD, n)
  local flag = 'n'
  if holder then
    flag = call('ZSCORE', AWAITING, holder) and 'a' or 'h'
  elseif call('ZSCORE', FREE, n) then
    flag = 'f'
  end
  out[#out + 1] = n
  out[#out + 1] = holder or ''
  out[#out + 1] = flag
end
return out
