/** What servers call the tier that has the usual price. */
const usual: ReadonlySet<string> = new Set(["default", "standard", "auto", "on_demand", "on-demand", "null", "none"]);

const plainName = /^[a-z][\w-]{0,31}$/;

/** The tier that served a response, such as `priority`; `undefined`: the usual one, or it is not said. */
export function readServiceTier(said: unknown): string | undefined {
  if (typeof said !== "string") return undefined;
  const tier = said.toLowerCase();
  return usual.has(tier) || !plainName.test(tier) ? undefined : tier;
}
