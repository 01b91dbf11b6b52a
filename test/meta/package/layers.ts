/** A folder of `src/`: the question it answers, and what its files may import besides each other. */
export interface Layer {
  readonly folder: string;
  readonly question: string;
  /** Folders, or single files of them, as in `providers/upstream-provider.js`. */
  readonly imports: readonly string[];
  readonly packages?: readonly string[];
}

const contracts = ["keys", "budgets", "plans", "accounts", "models", "ledger", "books", "responses"];
const provider = "providers/upstream-provider.js";
const store = ["records", ...contracts, "metering", "check"];

/** Lowest first: no folder imports one that stands below it here. */
export const layers: readonly Layer[] = [
  {
    folder: "runtime",
    question: "In what kind of process does this code run?",
    imports: [],
    packages: ["node:buffer"],
  },
  {
    folder: "host-code",
    question: "What may the host's functions return and throw, so that it harms nothing?",
    imports: [],
  },
  {
    folder: "wire",
    question: "How are JSON and server-sent events read and edited as bytes? It knows no API.",
    imports: ["runtime"],
    packages: ["eventsource-parser", "node:buffer"],
  },
  {
    folder: "seal",
    question: "What does the gateway sign, so that clients can keep it and send it back?",
    imports: ["runtime", "wire"],
    packages: ["node:buffer"],
  },
  {
    folder: "check",
    question: "How is a person's mistake in options explained?",
    imports: [],
    packages: ["zod", "zod/v4/core"],
  },
  {
    folder: "metering",
    question: "What is counted, what does it cost, and how did a call end?",
    imports: ["wire"],
  },
  {
    folder: "tokens",
    question: "How many tokens is a text at most?",
    imports: ["wire", "host-code"],
    packages: ["node:buffer"],
  },
  {
    folder: "records",
    question: "What must a database do to keep keys, plans, accounts, budgets and models?",
    imports: ["runtime"],
  },
  {
    folder: "keys",
    question: "What is an API key, and what does a key store promise?",
    imports: ["runtime", "records", "metering", "check"],
    packages: ["zod"],
  },
  {
    folder: "budgets",
    question: "What is a budget on a tag, and what does a store of budgets promise?",
    imports: ["records", "keys", "metering", "check"],
    packages: ["zod"],
  },
  {
    folder: "plans",
    question: "What is a plan, and what does a plan store promise?",
    imports: ["records", "budgets", "metering", "check"],
    packages: ["zod"],
  },
  {
    folder: "accounts",
    question: "What is an account, and what does an account store promise?",
    imports: ["records", "keys", "metering", "check"],
    packages: ["zod"],
  },
  {
    folder: "models",
    question: "What does a store of models promise, and which rules do all of them share?",
    imports: ["records", "check"],
    packages: ["zod"],
  },
  {
    folder: "ledger",
    question: "What does a credit ledger promise, and which rules do all of them share?",
    imports: ["runtime", "metering", "check"],
  },
  {
    folder: "responses",
    question: "What does a store of responses promise, and which rules do all of them share?",
    imports: ["check"],
    packages: ["node:buffer"],
  },
  {
    folder: "books",
    question: "What do the request log and the audit trail promise, and which rules do all of them share?",
    imports: ["keys", "ledger", "metering", "check"],
    packages: ["zod"],
  },
  {
    folder: "errors",
    question: "Which failures are there? No wire format.",
    imports: ["metering", "host-code"],
  },
  {
    folder: "redaction",
    question: "What of an upstream's words may a client read?",
    imports: ["wire"],
    packages: ["node:buffer"],
  },
  {
    folder: "model-api",
    question: "What do the APIs of all model servers share, in prompts, answers and failures?",
    imports: ["runtime", "wire", "tokens", "metering", "errors", "redaction"],
    packages: ["node:buffer"],
  },
  {
    folder: "openai",
    question: "How does OpenAI's API look on the wire?",
    imports: ["runtime", "wire", "seal", "tokens", "metering", "errors", "model-api"],
    packages: ["node:buffer"],
  },
  {
    folder: "anthropic",
    question: "How does Anthropic's API look on the wire?",
    imports: ["wire", "seal", "tokens", "metering", "errors", "model-api"],
    packages: ["node:buffer"],
  },
  {
    folder: "translate",
    question: "How does one client protocol become another?",
    imports: ["runtime", "wire", "seal", "metering", "errors", "model-api", "openai", "anthropic"],
    packages: ["node:buffer"],
  },
  {
    folder: "providers",
    question: "How is a model server reached?",
    imports: ["runtime", "host-code", "metering", "redaction", "model-api", "wire", "check"],
    packages: ["zod", "lru-cache", "#transport", "node:*"],
  },
  {
    folder: "operations",
    question: "What can a client call?",
    imports: [
      "runtime",
      ...["responses", "anthropic", "translate", "wire", "seal", "metering", "tokens", "errors", "redaction"],
      ...["model-api", "openai"],
      "ledger/calendar.js",
    ],
    packages: ["node:buffer"],
  },
  {
    folder: "http",
    question: "How do a request and a response look, whatever the host framework?",
    imports: ["host-code", "errors", provider],
    packages: ["node:buffer"],
  },
  {
    folder: "events",
    question: "What does the host learn of requests and failures?",
    imports: [
      "host-code",
      "runtime",
      "metering",
      "errors",
      "redaction",
      "ledger/credit-ledger.js",
      "ledger/limits.js",
      "ledger/window-states.js",
      "ledger/window-states.js",
      "ledger/calendar.js",
    ],
  },
  {
    folder: "hooks",
    question: "What may the host's code decide about a call before it is made?",
    imports: [
      "wire",
      "check",
      "metering",
      "errors",
      "events",
      "protocols/operations.js",
      "providers/headers.js",
    ],
    packages: ["zod"],
  },
  {
    folder: "guard",
    question: "What stands between a call and a remote ledger that hangs, fails or comes back empty?",
    imports: ["host-code", "runtime", "ledger", "metering"],
  },
  {
    folder: "cache",
    question: "How does a provider keep its responses for equal requests?",
    imports: ["runtime", "wire", "check", "metering", "model-api", "providers", "ledger/guard/time-limit.js"],
    packages: ["zod", "lru-cache", "node:buffer"],
  },
  {
    folder: "memory",
    question: "How are keys, plans, credits and responses kept in this process?",
    imports: ["host-code", ...store.filter((folder) => folder !== "metering")],
    packages: ["zod"],
  },
  {
    folder: "redis",
    question: "How are keys, plans, credits and responses kept in Redis?",
    imports: [
      ...["runtime", "records", ...contracts, "cache/response-cache-store.js", "metering", "ledger/guard/time-limit.js"],
      "check/known-options.js",
      "check/known-options.js",
    ],
    packages: ["lru-cache", "node:buffer"],
  },
  {
    folder: "postgres",
    question: "How are keys, plans, credits and responses kept in PostgreSQL?",
    imports: ["runtime", ...store],
  },
  {
    folder: "mysql",
    question: "How are keys, plans and credits kept in MySQL and MariaDB?",
    imports: ["records", "keys", "budgets", "plans", "accounts", "models", "ledger", "check"],
    packages: ["node:buffer"],
  },
  {
    folder: "sqlite",
    question: "How are keys, plans, credits and responses kept in SQLite?",
    imports: ["runtime", ...store],
    packages: ["node:timers/promises"],
  },
  {
    folder: "answer-guards",
    question: "What may the host's code decide about an answer before it goes out?",
    imports: [
      "host-code",
      ...["check", "metering", "events", "ledger/guard/time-limit.js", provider],
      "protocols/shared/response-format.js",
    ],
    packages: ["zod", "node:async_hooks"],
  },
  {
    folder: "routing",
    question: "Which target, when again, and is it well?",
    imports: [provider, "model-api", "redaction", "events", "metering", "errors", "ledger"],
  },
  {
    folder: "access",
    question: "Whose key is it, and what may it use? Cached and checked.",
    imports: [
      "runtime",
      "host-code",
      ...["keys", "budgets", "plans", "accounts", "ledger"],
      "metering",
      "errors",
      "events",
      "guard",
      "routing",
      ...["protocols/shared/operation.js", "protocols/shared/model-type.js", "protocols/operations.js"],
      "check/limit-schemas.js",
    ],
    packages: ["lru-cache"],
  },
  {
    folder: "call",
    question: "How is one metered call made: admit, send, relay, settle?",
    imports: [
      "host-code",
      "runtime",
      ...["wire", "seal", "metering", "plans", "ledger", "errors", "redaction", provider, "providers/direct-call.js"],
      ...[
        "providers/direct-call.js",
        "providers/headers.js",
        "operations",
        "http",
        "events",
        "hooks",
        "guard",
        "answer-guards",
        "routing",
        "access",
      ],
    ],
    packages: ["node:buffer"],
  },
  {
    folder: "server",
    question: "How does a path become an answer: route, authenticate, run the operation?",
    imports: ["host-code", "ledger", "errors", "events", "operations", "http", "access", "call"],
    packages: ["lru-cache"],
  },
  {
    folder: "gateway",
    question: "How is a gateway assembled, managed and closed?",
    imports: [
      "host-code",
      "runtime",
      "books",
      ...["responses", "stores/memory/memory-response-store.js", "stores/memory/rotating-map.js"],
      ...[
        "wire",
        "seal",
        "check",
        "metering",
        "tokens",
        ...["keys", "budgets", "plans", "accounts", "models", "ledger", "responses"],
        "errors",
        "model-api",
        provider,
        "operations",
        "http",
      ],
      "providers/direct-call.js",
      ...["events", "hooks", "guard", "answer-guards", "routing", "access", "call", "server"],
    ],
    packages: ["zod", "node:buffer"],
  },
  {
    folder: "adapters",
    question: "How does a host framework's request become ours, without importing the framework?",
    imports: ["gateway/gateway.js"],
    packages: ["node:*"],
  },
  {
    folder: "pages",
    question: "What do people see and manage of a gateway in their browser?",
    imports: [
      "host-code",
      ...["check", "errors", "events", "http", "guard", "metering", "accounts", "ledger", "books"],
      ...["plans", "protocols/shared/openai-protocol.js", "access/store-lookup.js", "access/model-patterns.js", "gateway"],
    ],
    packages: ["zod", "zod/v4/core", "node:buffer"],
  },
  {
    folder: "ai-sdk",
    question: "How is a model of the AI SDK a provider?",
    imports: [
      "host-code",
      ...["model-api", "protocols/messages/claude-models.js", "redaction", "errors", "wire", "check", provider],
      "providers/headers.js",
      ...["providers/transport/transport-error.js", "providers/transport/idle-timeout.js"],
    ],
    packages: ["zod", "node:buffer"],
  },
  {
    folder: "otel",
    question: "What does OpenTelemetry learn of requests?",
    imports: [
      ...["gateway/observers/observer.js", "host-code", "gateway/gateway-health.js"],
      ...["events", "prices/usage-counts.js", "protocols/shared/call-content.js"],
    ],
    packages: ["@opentelemetry/api"],
  },
  {
    folder: "prometheus",
    question: "What does Prometheus learn of requests?",
    imports: [
      ...["gateway/observers/observer.js", "gateway/gateway-health.js", "events", "ledger/guard/ledger-event.js"],
      "prices/usage-counts.js",
    ],
    packages: ["prom-client"],
  },
  {
    folder: "logs",
    question: "What does a log say of requests?",
    imports: ["gateway/observers/observer.js", "events", "prices/usage-counts.js"],
  },
  {
    folder: "testing",
    question: "How does a user test stores, providers and apps of their own?",
    imports: [...contracts, "cache/response-cache-store.js", "metering", provider],
    packages: ["node:*", "node:assert/strict", "node:timers/promises"],
  },
];

/** What some files of a layer may import. It stands instead of what their layer may. */
export interface FileRule {
  /** Paths within `src/`; `*` stands for any part of a name. */
  readonly files: readonly string[];
  readonly reason: string;
  /** As those of a layer. `*` stands for any part of a name. */
  readonly imports: readonly string[];
  readonly packages?: readonly string[];
}

/** The last rule that names a file holds. */
export const fileRules: readonly FileRule[] = [
  {
    files: ["runtime/node-runtime.ts"],
    reason: "Of what Node alone has, this file alone knows, but for its servers and sockets.",
    imports: ["runtime/runtime.js"],
    packages: ["node:*"],
  },
  {
    files: ["runtime/web-runtime.ts"],
    reason: "It knows nothing that Node alone has.",
    imports: ["runtime/runtime.js"],
    packages: ["@noble/hashes/*.js", "node:buffer"],
  },
  {
    files: ["providers/transport/undici-*.ts"],
    reason: "Only these files know undici, and they know no call.",
    imports: ["providers/*.js", "providers/transport/*.js"],
    packages: ["undici", "node:*"],
  },
  {
    files: [
      "records/keys/key-store.ts",
      "records/plans/plan-store.ts",
      "ledger/credit-ledger.ts",
      "responses/response-store.ts",
      "providers/upstream-provider.ts",
    ],
    reason: "A contract imports types of what is counted, and no folder that implements it.",
    imports: [
      "metering",
      "records/budgets/budget-store.js",
      "check/plain-data.js",
      ...["ledger/limits.js", "ledger/*-limit.js", "ledger/limits.js"],
      ...["ledger/usage/usage-request.js", "ledger/usage/usage-request.js", "ledger/usage/usage-request.js"],
      ...["protocols/shared/dialect.js", "redaction/upstream-secrets.js"],
    ],
  },
  {
    files: ["adapters/*.ts"],
    reason: "An adapter imports the gateway, the bridge of Node and files of its own, and no framework.",
    imports: ["adapters/node.js", "adapters/fastify-*.js", "gateway/gateway.js", "gateway/gateway.js"],
    packages: ["node:*"],
  },
  {
    files: ["adapters/node*.ts"],
    reason: "The bridge of Node imports the gateway and its own files.",
    imports: ["adapters/node-*.js", "gateway/gateway.js", "gateway/gateway.js"],
    packages: ["node:*"],
  },
  {
    files: ["pages/app/*.tsx", "pages/app/*/*.ts", "pages/app/*/*.tsx", "pages/app/*/*/*.ts", "pages/app/*/*/*.tsx"],
    reason: "Browsers load it: of the server it knows the types of its API and of its texts alone.",
    imports: ["pages/app", "pages/*/*-page-api.js", "pages/*/*-texts.js"],
    packages: ["preact", "preact/hooks"],
  },
  {
    files: ["pages/server/page-files.ts"],
    reason: "It builds what browsers load of the pages. The published package has the result in its place.",
    imports: ["pages/server/page-entry.js"],
    packages: ["build/build-page-files.js"],
  },
  {
    files: ["*.ts"],
    reason: "An entry exports what the folders of src/ have.",
    imports: ["*/*.js", "*/*/*.js"],
  },
];
