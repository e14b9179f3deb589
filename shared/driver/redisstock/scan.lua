-- scan: reads who holds every step-th unit, which are free and which wait for their holder, in one view up to
-- high-water: the units of one ledger bucket.
-- ARGV 1 first unit 2 step 3 at most this many
-- result {ok, unit, holder or '', flag, ...}, flag: a waits, h held, f free, n nowhere | {not_installed}
local hw = tonumber(call('HGET', ITEM, 'hw'))
if not hw then
  return {'not_installed'}
end
local first, step, out = tonumber(ARGV[1]), tonumber(ARGV[2]), {'ok'}
for n = first, math.min(hw, first + (tonumber(ARGV[3]) - 1) * step), step do
  local holder = call('HGET', HELD, n)
  local flag = 'n'
  if holder then
    flag = waits(n, holder) and 'a' or 'h'
  elseif call('ZSCORE', FREE, n) then
    flag = 'f'
  end
  out[#out + 1] = n
  out[#out + 1] = holder or ''
  out[#out + 1] = flag
end
return out
