-- remove: deletes an item whose sale ended long ago. A reservation that is still awaited would be rejected by now,
-- and its message finds no stock to update.
-- KEYS 1-5 the build, 6-12 the live item, free, held, res, awaiting, users, buyers
-- ARGV none
-- result {ok}
for _, key in ipairs(KEYS) do
  call('UNLINK', key)
end
return {'ok'}
