/** A beta by which Anthropic takes longer prompts, such as `context-1m-2025-08-07`. */
const wideContext = /context-(\d{1,6}(?:\.\d{1,3})?)([km])(?![a-z0-9])/i;

/**
 * The headers of a client without the betas by which a server takes prompts beyond the model's context: these cost more
 * than the catalog says, and more than is held. A model whose `contextLength` is that long keeps them.
 */
export function withinContext(
  headers: Readonly<Record<string, string>>,
  contextLength: number,
): Readonly<Record<string, string>> {
  const { "anthropic-beta": betas, ...others } = headers;
  if (betas === undefined || !wideContext.test(betas)) return headers;
  const kept = betas.split(",").filter((beta) => tokensOf(beta) <= contextLength);
  return kept.length === 0 ? others : { ...others, "anthropic-beta": kept.join(",").trim() };
}

/** The context that a beta opens; 0 for others. */
function tokensOf(beta: string): number {
  const [, amount, unit] = wideContext.exec(beta) ?? [];
  if (amount === undefined || unit === undefined) return 0;
  return Number(amount) * (unit.toLowerCase() === "m" ? 1_000_000 : 1000);
}
