/**
 * How long an upstream asks its clients to wait, in seconds (RFC 9110, section 10.2.3).
 * @param now - in epoch milliseconds, for dates.
 * @returns `undefined` where it does not say.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const milliseconds = headers["retry-after-ms"]?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(milliseconds)) return Number(milliseconds) / 1000;
  const value = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value);
  const date = value === "" ? Number.NaN : Date.parse(value);
  return Number.isNaN(date) ? undefined : (date - now) / 1000;
}
