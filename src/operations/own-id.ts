import type { AttemptFacts } from "./operation.js";

/** The id of a response that the gateway makes or keeps: the same for all attempts of a request. */
export function ownId(prefix: "msg" | "resp", { callId }: Pick<AttemptFacts, "callId">): string {
  return `${prefix}_${callId.slice(callId.indexOf("_") + 1).replaceAll("-", "")}`;
}
