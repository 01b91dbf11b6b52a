import { operations } from "../protocols/operations.js";
import type { Operation } from "../protocols/shared/operation.js";

/** A path of the gateway, and what it is for. */
export type Path = { readonly methods: readonly string[] } & (
  | { readonly endpoint: "healthz" | "readyz" | "models" | "usage" | "count_tokens" | "input_tokens" }
  | { readonly endpoint: "model"; readonly model: string }
  | { readonly endpoint: "response" | "input_items"; readonly responseId: string }
  | { readonly endpoint: Operation["name"]; readonly operation: Operation }
);

const read = ["GET", "HEAD", "OPTIONS"] as const;
const call = ["POST", "OPTIONS"] as const;
const readOrDelete = ["GET", "HEAD", "DELETE", "OPTIONS"] as const;

const fixed: ReadonlyMap<string, Path> = new Map<string, Path>([
  ["/healthz", { endpoint: "healthz", methods: read }],
  ["/readyz", { endpoint: "readyz", methods: read }],
  ["/v1/models", { endpoint: "models", methods: read }],
  ["/v1/usage", { endpoint: "usage", methods: read }],
  ...operations.flatMap((operation) =>
    operation.paths.map((path): [string, Path] => [path, { endpoint: operation.name, methods: call, operation }]),
  ),
  ["/v1/messages/count_tokens", { endpoint: "count_tokens", methods: call }],
  ["/v1/responses/input_tokens", { endpoint: "input_tokens", methods: call }],
]);

const modelPrefix = "/v1/models/";
const responsePrefix = "/v1/responses/";

/** The paths of the gateway, for hosts that register routes: `*` stands for the rest of the path. */
export const routePatterns: readonly string[] = [...fixed.keys(), `${modelPrefix}*`, `${responsePrefix}*`];

/**
 * Finds the path that an undecoded URL path means. One trailing slash is ignored. A model's id may contain slashes, raw
 * or percent-encoded: it is the rest of the path, decoded once.
 */
export function matchPath(path: string): Path | undefined {
  const exact = fixed.get(path);
  if (exact !== undefined) return exact;
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  if (trimmed.startsWith(modelPrefix) && trimmed.length > modelPrefix.length) {
    return { endpoint: "model", methods: read, model: decode(trimmed.slice(modelPrefix.length)) };
  }
  return fixed.get(trimmed) ?? matchResponse(trimmed);
}

/** The path of a kept response, or of its input items. */
function matchResponse(path: string): Path | undefined {
  if (!path.startsWith(responsePrefix)) return undefined;
  const [id = "", rest, ...more] = path.slice(responsePrefix.length).split("/");
  if (id === "" || more.length > 0) return undefined;
  if (path === compactPath) return undefined;
  const responseId = decode(id);
  if (rest === undefined) return { endpoint: "response", methods: readOrDelete, responseId };
  return rest === "input_items" ? { endpoint: "input_items", methods: read, responseId } : undefined;
}

/** OpenAI has it, and the gateway does not. */
export const compactPath = `${responsePrefix}compact`;

/** A malformed escape stays as it is: no model has such an id. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
