import type { AttemptFacts } from "./operation.js";

/** The id of a response that the gateway makes or keeps: the same for all attempts of a request. */
export function ownId(prefix: "msg" | "resp", { requestId }: AttemptFacts): string {
  return `${prefix}_${requestId.slice(requestId.indexOf("_") + 1).replaceAll("-", "")}`;
}
