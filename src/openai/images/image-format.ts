import type { Dialect } from "../../model-api/dialect.js";

const refusesFormat = /^(chatgpt|gpt)-image-/;

/** What a target is sent as `response_format`. */
export interface SentFormat {
  /** `null`: nothing. `undefined`: what the client says. */
  readonly sent: "b64_json" | "url" | null | undefined;
  /** What comes; `undefined`: it is not known. */
  readonly given: "b64_json" | "url" | undefined;
}

/** @param upstreamModel - the target's own name for it. */
export function imageFormatOf(dialect: Dialect | undefined, upstreamModel: string): SentFormat {
  const own = dialect?.imageFormat;
  if (own === "none" || refusesFormat.test(upstreamModel)) return { sent: null, given: "b64_json" };
  return { sent: own, given: own };
}
