-- drift_begin: a drift pass starts. Passes are numbered, so that "began after" compares no clocks. The latest passes
-- are remembered by their tokens: several may run at once, and one that the stock has lost proves nothing.
-- ARGV 1 the pass's token 2 how many to remember
-- result {ok, pass} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local pass = call('HINCRBY', ITEM, 'pass', 1)
local passes = {ARGV[1] .. ':' .. pass}
for p in string.gmatch(call('HGET', ITEM, 'passes') or '', '[^,]+') do
  if #passes < tonumber(ARGV[2]) then
    passes[#passes + 1] = p
  end
end
call('HSET', ITEM, 'passes', table.concat(passes, ','))
return {'ok', pass}
