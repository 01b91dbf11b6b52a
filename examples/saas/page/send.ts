/** @throws Error with the server's own words. */
export async function send<Result>(method: string, path: string, body?: object): Promise<Result> {
  const json = body && { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, ...json });
  const text = await response.text();
  const result = text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : {};
  if (!response.ok) throw new Error(result.message ?? result.error?.message ?? result.error ?? response.statusText);
  return result as Result;
}
