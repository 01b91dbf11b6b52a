import type { GatewayRequest } from "../../http/message.js";

/** A `traceparent` of W3C Trace Context: version 00 has nothing behind the flags, later versions may. */
const wellFormedParent = /^(?!ff)[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-[!-~]*)?$/;
const lengthOfVersion00 = 55;
const noTrace = "0".repeat(32);
const noSpan = "0".repeat(16);
const longestParent = 256;

/** One member of a `tracestate`: a key and a value without commas and equal signs. */
const wellFormedMember = /^(?:[a-z0-9][a-z0-9_\-*/@]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~])?$/;
const mostMembers = 32;
const longestState = 4096;

/**
 * The trace to which a request belongs, as headers for its upstreams. A header that is not well-formed is left out, and
 * a `tracestate` without a `traceparent` means nothing.
 */
export function traceHeaders(request: Pick<GatewayRequest, "header">): Record<string, string> | undefined {
  const traceparent = request.header("traceparent");
  if (traceparent === undefined || !isParent(traceparent)) return undefined;
  const tracestate = request.header("tracestate");
  return tracestate === undefined || !isState(tracestate) ? { traceparent } : { traceparent, tracestate };
}

function isParent(text: string): boolean {
  if (text.length > longestParent || !wellFormedParent.test(text)) return false;
  const [version, trace, span] = text.split("-");
  return !(version === "00" && text.length !== lengthOfVersion00) && trace !== noTrace && span !== noSpan;
}

function isState(text: string): boolean {
  if (text.trim() === "" || text.length > longestState) return false;
  const members = text.split(",");
  return members.length <= mostMembers && members.every((member) => wellFormedMember.test(member.trim()));
}
