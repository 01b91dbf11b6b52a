/** From this version on, an answer has every member that its type has. */
const firstExplicit = "2026-10-21";

/** What a message has beside what is said of it. */
const messageNulls = { container: null, diagnostics: null, stop_details: null };

/** What the end of a streamed message has. */
const deltaNulls = { container: null, stop_details: null };

const usageNulls = {
  cache_creation: null,
  inference_geo: null,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: null,
  speed: null,
};

const deltaUsageNulls = { output_tokens_details: null, server_tool_use: null };

/** The members that are `null` where there is nothing to say, by what they are of. */
export interface ExplicitNulls {
  readonly message: Readonly<Record<string, null>>;
  readonly usage: Readonly<Record<string, null>>;
  readonly delta: Readonly<Record<string, null>>;
  readonly deltaUsage: Readonly<Record<string, null>>;
}

const all: ExplicitNulls = { message: messageNulls, usage: usageNulls, delta: deltaNulls, deltaUsage: deltaUsageNulls };
const none: ExplicitNulls = { message: {}, usage: {}, delta: {}, deltaUsage: {} };

/** @param version - the request's `anthropic-version`: a date, or whatever a client sends. */
export function explicitNulls(version: string | undefined): ExplicitNulls {
  return version !== undefined && /^\d{4}-\d\d-\d\d$/.test(version) && version >= firstExplicit ? all : none;
}
