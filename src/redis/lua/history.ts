/** A page of the journal, the newest entry first. */
export const history = `
local newest, oldest, count = unpack(arguments)
return call('XREVRANGE', journalKey, newest, oldest, 'COUNT', count)
`;
