/** The server's clock, in epoch milliseconds. */
export const clock = `
local function readClock()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;
