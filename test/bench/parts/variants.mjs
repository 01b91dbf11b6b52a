const key = { authorization: "Bearer sk-bench-0123456789abcdef" };

/**
 * What is compared. `workloads` are the only ones that it is measured with, `program` must be installed. `floor` names the bare proxy that a host is measured against besides the common one; `gate` is
 * infergate, which alone can refuse for want of credits.
 */
export const variants = [
  { name: "floor", title: "bare proxy (node:http)" },
  { name: "floor-undici", title: "bare proxy (undici dispatch)" },
  { name: "node", title: "infergate, node:http", gate: true },
  { name: "fastify", title: "infergate, Fastify 5", gate: true },
  { name: "express-floor", title: "bare proxy in Express 5" },
  { name: "express", title: "infergate, Express 5", gate: true, floor: "express-floor" },
  { name: "fetch", title: "infergate, fetch (srvx)", gate: true },
  {
    name: "redis",
    title: "infergate, node:http, Redis ledger",
    gate: true,
    workloads: ["W1"],
    program: "redis-server",
  },
  { name: "portkey", title: "Portkey 1.15.2", warmUpSeconds: 8, headers: portkeyHeaders },
  {
    name: "llmops",
    title: "LLMOps SDK 0.6.10 (srvx)",
    warmUpSeconds: 8,
    path: "/api/genai/v1/chat/completions",
    model: "@bench/small",
  },
];

export function requestHeaders(variant, upstreamPort) {
  return { ...key, ...variant.headers?.(upstreamPort) };
}

function portkeyHeaders(upstreamPort) {
  return { "x-portkey-provider": "openai", "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1` };
}
