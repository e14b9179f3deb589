-- build_common.lua: put before every build script. A build stands beside the live keys and belongs to one token.
--
-- KEYS  1 new        hash  token, at (when it was last touched, ms)
--       2 new:free   as free
--       3 new:held   as held
--       4 new:users  as users
--       install and remove have the six live keys behind these
--
-- Whole keys go by UNLINK: a hash of a million fields is freed beside, while other items' scripts run; DEL would hold
-- them up for seconds.
local call = redis.call
local NEW, NFREE, NHELD, NUSERS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]

local function lost(token)
  return call('HGET', NEW, 'token') ~= token
end

local function touch(now)
  call('HSET', NEW, 'at', now)
end
