/** Sends a JSON body with a key. */
export function postJson(url: string, key: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}
