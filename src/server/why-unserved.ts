import { compactPath } from "./paths.js";

/** Paths of OpenAI's and Anthropic's APIs that the gateway does not serve, and what to do instead. */
const reasons: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(`^${compactPath}$`),
    "No conversation is compacted here. Ask the model for a summary by POST /v1/responses, and go on from that.",
  ],
  [/^\/v1\/responses\/[^/]+\/cancel$/, "Responses are made while the client waits. To stop one, close the connection."],
  [
    /^\/v1\/(realtime|live)(\/|$)/,
    "There are no realtime sessions here: nothing bounds what one may cost. Stream a response.",
  ],
  [
    /^\/v1\/(messages\/batches|batches|files|uploads)(\/|$)/,
    "There are no files and no batches here. Send each request by itself.",
  ],
  [
    /^\/v1\/decisions(\/|$)/,
    "Decisions are not made here: only their vendor serves them. Ask a model for JSON by POST /v1/responses, or use POST /v1/moderations.",
  ],
  [
    /^\/v1\/(agents|sessions|environments|deployments|deployment_runs|dreams|memory_stores|vaults|tunnels|chatkit)(\/|$)/,
    "Agents are not run here: the vendor would run them in the account of the operator, and nothing bounds what one may cost. Run the agent in your own process, with POST /v1/responses or POST /v1/messages.",
  ],
  [
    /^\/v1\/(skills|containers)(\/|$)/,
    "No skills and no containers are kept here: all clients would share them. Say what the model shall do in the request, and run its code yourself.",
  ],
  [/^\/v1\/complete$/, "This API is withdrawn. Use POST /v1/messages."],
  [/^\/v1\/(evals|graders|content_provenance_checks)(\/|$)/, "Nothing is evaluated here. Send each request by itself."],
  [
    /^\/v1\/(organizations?|user_profiles|compliance|webhook_endpoints|webhook_event_types|safety)(\/|$)/,
    "An account with a vendor is not managed here: that is for its operator, at the vendor. GET /v1/usage says what of your own credits is used.",
  ],
  [/^\/v1\/images\/variations$/, "Variations of images are not made here."],
  [/^\/v1\/videos(\/|$)/, "Videos are not made here: nothing is kept that is fetched later."],
  [/^\/v1\/audio\/(voices|voice_consents)(\/|$)/, "Voices are not made here: nothing is kept that is fetched later."],
  [
    /^\/v1\/ocr(\/|$)/,
    "Pages are not read here: nothing says what one costs. Send images to POST /v1/chat/completions.",
  ],
  [
    /^\/v1\/(assistants|threads|vector_stores|conversations)(\/|$)/,
    "Nothing is kept here under that name. Use POST /v1/responses.",
  ],
  [/^\/v1\/fine_tuning(\/|$)/, "Models are not trained here."],
];

/** Why a path of OpenAI's API is not served, and what to do instead; `undefined`: nothing is known of it. */
export function whyUnserved(path: string): string | undefined {
  const trimmed = path.endsWith("/") ? path.slice(0, -1) : path;
  return reasons.find(([pattern]) => pattern.test(trimmed))?.[1];
}
