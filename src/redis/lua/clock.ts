/** Now by the server's clock, in epoch milliseconds. */
export const clock = `
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
