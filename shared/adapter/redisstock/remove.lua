-- remove: forgets an item whose sale is long over. A reservation that still waits to be placed would be rejected by
-- now, and its message
-- finds no stock to tell.
-- KEYS  1-4 the build, 5-10 the live item, free, held, res, awaiting, users
-- ARGV  none
-- result {ok}
for _, key in ipairs(KEYS) do
  call('UNLINK', key)
end
return {'ok'}
