/**
 * Ends the holds whose lease is over, charging the cost that their last renewals saw.
 *
 * Any number can be due at once, and a script keeps all other clients waiting. So one script ends some of them and, where
 * more are left, does nothing else: its caller then sends it again.
 *
 * @param books - the parts that charge and write the journal, where the script does not have them for itself.
 */
export const expiry = (books = "") => `
if now >= account.nextExpiry then
  -- Most often the lease that was to end then has been settled.
  local first = call('ZRANGE', leasesKey, 0, 0, 'WITHSCORES')
  account.nextExpiry = tonumber(first[2] or maxInteger)
end

if now >= account.nextExpiry then
${books}
  local mostPerScript = 500
  local expiredMemoryMs = 3600000

  local due = call('ZRANGEBYSCORE', leasesKey, '-inf', now, 'LIMIT', 0, mostPerScript)
  local packed = call('HMGET', holdsKey, unpack(due))
  local records, times = {}, {}
  for index, id in ipairs(due) do
    local hold = readLease(packed[index])
    if hold then
      addCharge(hold, hold.held, hold.checkpoint)
      if hold.checkpoint > 0 then journal(id, 'checkpoint', hold.checkpoint, hold) end
      hold.held, hold.isExpired = 0, true
      records[#records + 1], records[#records + 2] = id, packLease(hold)
      times[#times + 1], times[#times + 2] = now, id
    end
  end
  call('ZREM', leasesKey, unpack(due))

  local old = call('ZRANGEBYSCORE', expiredKey, '-inf', now - expiredMemoryMs, 'LIMIT', 0, 2 * mostPerScript)
  if #old > 0 then
    call('HDEL', holdsKey, unpack(old))
    call('ZREM', expiredKey, unpack(old))
    account.forgottenUntil = math.max(account.forgottenUntil, now - expiredMemoryMs)
  end
  if #records > 0 then
    call('HSET', holdsKey, unpack(records))
    call('ZADD', expiredKey, unpack(times))
  end

  local first = call('ZRANGE', leasesKey, 0, 0, 'WITHSCORES')
  account.nextExpiry = tonumber(first[2] or maxInteger)
  saveAccount(true)
  if #due == mostPerScript then return { 'again' } end
end
`;
