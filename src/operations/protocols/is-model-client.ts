/**
 * Whether only a client of a model sends such a request: it names the version of Anthropic's API, or its key has the form of
 * one for models.
 * @param keyPrefix - of the gateway's own keys.
 */
export function isModelClient(header: (name: string) => unknown, keyPrefix: string): boolean {
  if (header("anthropic-version") !== undefined) return true;
  const sent = header("x-api-key") ?? header("authorization");
  const key = typeof sent === "string" ? sent.replace(/^bearer +/i, "") : "";
  return key.startsWith("sk-") || key.startsWith(keyPrefix);
}
