-- level: returns the item's figures.
-- ARGV none
-- result {ok, left, held, awaiting, high-water, stock, version, stopped, records, held back,
--         its build's token, looks} | {not_installed}
local it = call('HMGET', ITEM, 'stock', 'hw', 'version', 'stopped', 'back')
if not it[1] then
  return {'not_installed'}
end
local back, token, looks = string.match(it[5] or '', '^(%d+)|(.*)|(%d+)|%d+$')
local stock, hw = tonumber(it[1]), tonumber(it[2])
return {'ok', available(stock, hw), call('HLEN', HELD), call('ZCARD', AWAITING), hw, stock, tonumber(it[3]),
  tonumber(it[4]), call('HLEN', RES), tonumber(back or 0), token or '',
  tonumber(looks or 0)}
