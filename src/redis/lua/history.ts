/** A page of the journal, the newest entry first. */
export const history = `
local to, from, count = nextText(), nextText(), nextNumber()
return redis.call('XREVRANGE', journalKey, to, from, 'COUNT', count)
`;
