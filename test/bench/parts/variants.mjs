import { benchKey } from "./bodies.mjs";

const manyAccounts = 10_000;

/**
 * What is compared. `workloads` are the only ones that it is measured with, `program` must be installed, `module` is the
 * file of the folder `variants` that starts it, its own name if it is not there. The load takes turns with the keys of
 * so many `accounts`, one if it is not there. `floor` names the bare proxy that a host is measured against besides the
 * common one; `gate` is infergate, which alone can refuse for want of credits.
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
  {
    name: "node-many",
    title: "infergate, node:http, 10,000 accounts",
    module: "node",
    accounts: manyAccounts,
    gate: true,
    workloads: ["W1"],
  },
  {
    name: "redis-many",
    title: "infergate, node:http, Redis ledger, 10,000 accounts",
    module: "redis",
    accounts: manyAccounts,
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

/** Infergate's variants with another build: the folder's `dist`. */
export function builtElsewhere(all, build) {
  return all
    .filter(({ gate }) => gate)
    .map((variant) => ({
      ...variant,
      name: `${variant.name}-against`,
      module: variant.module ?? variant.name,
      title: `${variant.title}, the other build`,
      build,
    }));
}

export function requestHeaders(variant, upstreamPort) {
  return { authorization: `Bearer ${benchKey(0)}`, ...variant.headers?.(upstreamPort) };
}

function portkeyHeaders(upstreamPort) {
  return { "x-portkey-provider": "openai", "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1` };
}
