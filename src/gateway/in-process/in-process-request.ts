import { Buffer } from "node:buffer";
import type { RequestParts, RequestTarget } from "../web-request.js";

/** A host that no name server knows (RFC 6761, section 6.4): a real request to it would fail. */
const origin = "http://infergate.invalid";

/** The base URL of calls in process. */
export const inProcessURL: string = `${origin}/v1`;

/** A call of `fetch`, as the gateway reads it. */
export interface InProcessRequest {
  readonly target: RequestTarget;
  readonly parts: RequestParts;
}

/**
 * What the gateway reads of a call of `fetch`. Of a text or bytes no `Request` is made.
 * @param ended - ends the call beside the signal that it brings.
 * @throws TypeError for a URL of another host, and for what no `fetch` takes.
 */
export function toInProcessRequest(
  input: string | URL | Request,
  init: RequestInit | undefined,
  ended: AbortSignal | undefined,
): InProcessRequest {
  if (input instanceof Request) {
    const request = init === undefined ? input : new Request(input, init);
    const { url, method, body, bodyUsed, headers, signal } = request;
    const either = ended === undefined ? signal : AbortSignal.any([signal, ended]);
    return {
      target: targetOf(url),
      parts: { method, headers: new Headers(headers), signal: either, body, bodyUsed },
    };
  }
  const target = targetOf(String(input));
  const { method = "GET", body, signal } = init ?? {};
  const { bytes, type } = readBody(body);
  return {
    target,
    parts: {
      method: method.toUpperCase(),
      headers: headersOf(init?.headers, type),
      signal: signal && ended ? AbortSignal.any([signal, ended]) : (signal ?? ended),
      body: bytes,
      bodyUsed: false,
    },
  };
}

/** A path that a URL parser leaves as it is. */
const plainPath = /^\/[\w/]*$/;

function targetOf(url: string): RequestTarget {
  if (url.startsWith(origin)) {
    const path = url.slice(origin.length);
    if (plainPath.test(path)) return { path, query: "" };
  }
  const { origin: found, pathname, search } = new URL(url);
  if (found === origin) return { path: pathname, query: search.slice(1) };
  throw new TypeError(`This fetch reaches the gateway alone. Send requests to ${inProcessURL}, not to ${found}.`);
}

/** A body, and its content type where no header says one. */
interface ReadBody {
  readonly bytes: RequestParts["body"];
  readonly type: string | null;
}

function readBody(body: RequestInit["body"]): ReadBody {
  if (body === undefined || body === null) return { bytes: null, type: null };
  if (typeof body === "string") return { bytes: Buffer.from(body), type: "text/plain;charset=UTF-8" };
  // Its owner may write into it while the call waits.
  if (body instanceof Uint8Array) return { bytes: Buffer.from(body), type: null };
  const { body: bytes, headers } = new Response(body);
  return { bytes, type: headers.get("content-type") };
}

/** A copy: whoever calls may change their headers while the call waits. */
function headersOf(sent: RequestInit["headers"], type: string | null): RequestParts["headers"] {
  const headers = new Headers(sent);
  return { get: (name) => headers.get(name) ?? (name === "content-type" ? type : null) };
}
