/** What a path asks for. */
export type Route =
  | { readonly endpoint: "healthz"; readonly methods: readonly string[] }
  | { readonly endpoint: "models"; readonly methods: readonly string[] }
  | { readonly endpoint: "model"; readonly methods: readonly string[]; readonly model: string }
  | { readonly endpoint: "usage"; readonly methods: readonly string[] }
  | { readonly endpoint: "chat/completions"; readonly methods: readonly string[] }
  | { readonly endpoint: "embeddings"; readonly methods: readonly string[] }
  | { readonly endpoint: "responses"; readonly methods: readonly string[] };

const read = ["GET", "HEAD", "OPTIONS"] as const;
const call = ["POST", "OPTIONS"] as const;

const healthz: Route = { endpoint: "healthz", methods: read };
const models: Route = { endpoint: "models", methods: read };
const usage: Route = { endpoint: "usage", methods: read };
const chatCompletions: Route = { endpoint: "chat/completions", methods: call };
const embeddings: Route = { endpoint: "embeddings", methods: call };
const responses: Route = { endpoint: "responses", methods: call };

const fixed: ReadonlyMap<string, Route> = new Map<string, Route>([
  ["/healthz", healthz],
  ["/v1/models", models],
  ["/v1/usage", usage],
  ["/v1/chat/completions", chatCompletions],
  ["/v1/embeddings", embeddings],
  ["/v1/responses", responses],
]);

const modelPrefix = "/v1/models/";

/** The paths of the gateway, for hosts that register routes: `*` stands for the rest of the path. */
export const routePatterns: readonly string[] = [...fixed.keys(), `${modelPrefix}*`];

/**
 * Finds the route of an undecoded path; one trailing slash does not matter.
 * A model's id may hold slashes, raw or percent-encoded: it is the rest of the path, decoded once.
 */
export function matchRoute(path: string): Route | undefined {
  const exact = fixed.get(path);
  if (exact !== undefined) return exact;
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  if (trimmed.startsWith(modelPrefix) && trimmed.length > modelPrefix.length) {
    return { endpoint: "model", methods: read, model: decode(trimmed.slice(modelPrefix.length)) };
  }
  return fixed.get(trimmed);
}

/** A malformed escape stays as it is: no model has such an id. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
