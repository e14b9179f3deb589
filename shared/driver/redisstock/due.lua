-- due: returns reservations whose message should be sent again, and doubles the wait of each.
-- ARGV 1 now 2 at most this many 3 longest wait, ms
-- result {ok, order, record, order, record, ...} | {not_installed}
if not_installed() then
  return {'not_installed'}
end
local now, out = tonumber(ARGV[1]), {'ok'}
for _, order in ipairs(call('ZRANGEBYSCORE', AWAITING, '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])) do
  local r = record(order)
  if r and r.state == 'q' then
    local wait = math.min(tonumber(r.backoff) * 2, tonumber(ARGV[3]))
    r.backoff = whole(wait)
    call('ZADD', AWAITING, whole(now + wait), order)
    out[#out + 1] = order
    out[#out + 1] = save(order, r)
  else
    call('ZREM', AWAITING, order)
  end
end
return out
