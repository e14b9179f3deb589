-- build_start: begins a build, and takes it from whoever was building.
-- ARGV  1 token
-- result {ok}
call('DEL', NEW, NFREE, NHELD, NUSERS)
call('HSET', NEW, 'token', ARGV[1])
return {'ok'}
