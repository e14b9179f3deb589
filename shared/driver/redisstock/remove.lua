-- remove: deletes an item whose sale ended long ago. A reservation that is still awaited would be rejected by now,
-- and its message finds no stock to update.
-- KEYS 1-4 the build, 5-10 the live item, free, held, res, awaiting, users
-- ARGV none
-- result {ok}
for _, key in ipairs(KEYS) do
  call('UNLINK', key)
end
return {'ok'}
