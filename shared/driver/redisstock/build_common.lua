-- build_common.lua: prepended to every build script. A build is separate from the live keys and belongs to one token.
--
-- KEYS 1 new hash token, at (last use, ms)
--       2 new:free   like free
--       3 new:held   like held
--       4 new:users  like users
--       5 new:buyers like buyers
--       install and remove have the seven live keys after these
--
-- Whole keys are removed by UNLINK: it frees a hash of a million fields in the background; DEL would block other
-- items' scripts for seconds.
local call = redis.call
local NEW, NFREE, NHELD, NUSERS, NBUYERS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]

local function lost(token)
  return call('HGET', NEW, 'token') ~= token
end

local function touch(now)
  call('HSET', NEW, 'at', now)
end
