-- copied_blocks: returns a page of the blocks beside the item.
-- ARGV 1 cursor 2 approximate page size
-- result {ok, next cursor, user or *user, end, ...} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local page = call('HSCAN', ITEM, ARGV[1], 'COUNT', ARGV[2])
local out = {'ok', page[1]}
for i = 1, #page[2], 2 do
  local user = string.match(page[2][i], '^b:(.+)$')
  if user then
    out[#out + 1] = user
    out[#out + 1] = page[2][i + 1]
  end
end
return out
