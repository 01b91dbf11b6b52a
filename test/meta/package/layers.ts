/** A folder of `src/`: the question it answers, and what its files may import besides each other. */
export interface Layer {
  readonly folder: string;
  readonly question: string;
  /** Folders, or single files of them, as in `providers/upstream-provider.js`. */
  readonly imports: readonly string[];
  readonly packages?: readonly string[];
}

const contracts = ["records", "ledger", "responses", "audit", "request-log"];
const provider = "providers/upstream-provider.js";
const hostCode = "runtime/host-code.js";

/** Lowest first: no folder imports one that stands below it here. */
export const layers: readonly Layer[] = [
  {
    folder: "runtime",
    question: "In what kind of process does this code run, and what may the host's functions return and throw?",
    imports: [],
    packages: ["node:buffer"],
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
    folder: "prices",
    question: "What is counted, what does it cost, and how did a call end?",
    imports: ["wire"],
  },
  {
    folder: "tokens",
    question: "How many tokens is a text at most?",
    imports: ["wire", hostCode],
    packages: ["node:buffer"],
  },
  {
    folder: "records",
    question: "What are keys, plans, accounts, budgets and models, and what must a database do to keep them?",
    imports: ["runtime", "prices", "check"],
    packages: ["zod"],
  },
  {
    folder: "ledger",
    question: "What does a credit ledger promise, which rules do all share, and what guards one that is slow or away?",
    imports: ["runtime", "prices", "check"],
  },
  {
    folder: "responses",
    question: "What does a store of responses promise, and which rules do all of them share?",
    imports: ["check"],
    packages: ["node:buffer"],
  },
  {
    folder: "audit",
    question: "What does an audit trail promise, and which rules do all of them share?",
    imports: ["check"],
    packages: ["zod"],
  },
  {
    folder: "request-log",
    question: "What does a request log promise, and which rules do all of them share?",
    imports: ["records", "ledger", "prices", "check"],
    packages: ["zod"],
  },
  {
    folder: "errors",
    question: "Which failures are there? No wire format.",
    imports: ["prices", hostCode],
  },
  {
    folder: "redaction",
    question: "What of an upstream's words may a client read?",
    imports: ["wire"],
    packages: ["node:buffer"],
  },
  {
    folder: "protocols",
    question: "What can a client call, and how does each API look on the wire?",
    imports: [
      ...["runtime", "wire", "seal", "tokens", "prices", "errors", "redaction", "responses"],
      "ledger/calendar.js",
    ],
    packages: ["node:buffer"],
  },
  {
    folder: "providers",
    question: "How is a model server reached?",
    imports: ["runtime", "prices", "redaction", "protocols/shared", "wire", "check"],
    packages: ["zod", "lru-cache", "#transport", "node:*"],
  },
  {
    folder: "http",
    question: "How do a request and a response look, whatever the host framework?",
    imports: [hostCode, "runtime/let-process-end.js", "errors", provider],
    packages: ["node:buffer"],
  },
  {
    folder: "events",
    question: "What does the host learn of requests and failures?",
    imports: [
      ...["runtime", "prices", "errors", "redaction", "ledger/credit-ledger.js"],
      ...["ledger/window-states.js", "ledger/calendar.js"],
    ],
  },
  {
    folder: "cache",
    question: "How does a provider keep its responses for equal requests?",
    imports: ["runtime", "wire", "check", "prices", "protocols/shared", "providers", "ledger/guard/time-limit.js"],
    packages: ["zod", "lru-cache", "node:buffer"],
  },
  {
    folder: "hooks",
    question:
      "What may the host's code decide about a call before it is made, and about a response before it goes out?",
    imports: [
      ...[hostCode, "wire", "check", "prices", "errors", "events", "ledger/guard/time-limit.js", provider],
      ...["protocols/operations.js", "protocols/shared/response-format.js", "providers/headers.js"],
    ],
    packages: ["zod", "node:async_hooks"],
  },
  {
    folder: "stores",
    question: "How are keys, plans, credits and responses kept in memory, SQLite, Redis, PostgreSQL and MySQL?",
    imports: ["runtime", ...contracts, "prices", "check", "cache/response-cache-store.js"],
    packages: ["zod", "lru-cache", "node:buffer", "node:timers/promises"],
  },
  {
    folder: "routing",
    question: "Which target, when again, and is it well?",
    imports: [provider, "protocols/shared", "redaction", "events", "prices", "errors", "ledger"],
  },
  {
    folder: "access",
    question: "Whose key is it, and what may it use? Cached and checked.",
    imports: [
      ...["runtime", "records", "ledger", "prices", "errors", "events", "routing"],
      ...["protocols/shared/operation.js", "protocols/shared/model-type.js", "protocols/operations.js"],
      "check/limit-schemas.js",
    ],
    packages: ["lru-cache"],
  },
  {
    folder: "call",
    question: "How is one metered call made: admit, send, relay, settle?",
    imports: [
      ...["runtime", "wire", "seal", "prices", "records/plans/plan-store.js", "ledger", "errors", "redaction"],
      ...[provider, "providers/direct-call.js", "providers/headers.js", "protocols", "http", "events", "hooks"],
      ...["routing", "access"],
    ],
    packages: ["node:buffer"],
  },
  {
    folder: "server",
    question: "How does a path become a response: route, authenticate, run the operation?",
    imports: ["runtime", "ledger", "errors", "events", "protocols", "http", "hooks", "access", "call"],
    packages: ["lru-cache"],
  },
  {
    folder: "gateway",
    question: "How is a gateway assembled, managed and closed?",
    imports: [
      ...["runtime", ...contracts, "stores/memory/memory-response-store.js", "stores/memory/rotating-map.js"],
      ...["wire", "seal", "check", "prices", "tokens", "errors", "protocols", provider, "providers/direct-call.js"],
      ...["http", "events", "hooks", "routing", "access", "call", "server"],
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
    folder: "observe",
    question: "What do OpenTelemetry, Prometheus, logs and the operator's page learn of requests?",
    imports: [
      ...["gateway/observers/observer.js", "gateway/gateway-health.js", hostCode, "events"],
      ...["ledger/guard/ledger-event.js", "prices/usage-counts.js", "protocols/shared/call-content.js"],
    ],
    packages: ["@opentelemetry/api", "prom-client"],
  },
  {
    folder: "pages",
    question: "What do people see and manage of a gateway in their browser?",
    imports: [
      ...[hostCode, "check", "errors", "events", "http", "prices", "records", "ledger", "audit", "request-log"],
      "observe/live-requests.js",
      ...["protocols/shared/openai-protocol.js", "access/store-lookup.js", "access/model-patterns.js", "gateway"],
    ],
    packages: ["zod", "zod/v4/core", "node:buffer"],
  },
  {
    folder: "ai-sdk",
    question: "How is a model of the AI SDK a provider?",
    imports: [
      ...[hostCode, "protocols/shared", "protocols/messages/claude-models.js", "redaction", "errors", "wire", "check"],
      ...[provider, "providers/headers.js", "providers/transport/transport-error.js"],
      "providers/transport/idle-timeout.js",
    ],
    packages: ["zod", "node:buffer"],
  },
  {
    folder: "testing",
    question: "How does a user test stores, providers and apps of their own?",
    imports: [...contracts, "cache/response-cache-store.js", "prices", provider],
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
    imports: ["providers/*.js", "providers/transport/*.js", "runtime/this-runtime.js", "wire/piece-source.js"],
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
      ...["prices", "records/budgets/budget-store.js", "check/plain-data.js", "ledger/limits.js"],
      ...["ledger/usage/usage-request.js", "protocols/shared/dialect.js", "redaction/upstream-secrets.js"],
    ],
  },
  {
    files: ["protocols/shared/*.ts"],
    reason: "What several APIs share knows none of them.",
    imports: [
      ...["protocols/shared", "runtime", "wire", "seal", "tokens", "prices", "errors", "redaction", "responses"],
      "ledger/calendar.js",
    ],
    packages: ["node:buffer"],
  },
  ...["audio", "images", "embeddings", "moderations", "rerank"].map((api) => ({
    files: [`protocols/${api}/*.ts`],
    reason: "It is an API by itself: it knows what all share, and no other API.",
    imports: [
      ...[`protocols/${api}`, "protocols/shared", "runtime", "wire", "tokens", "prices", "errors", "redaction"],
      "ledger/calendar.js",
    ],
    packages: ["node:buffer"],
  })),
  {
    files: ["ledger/rules/*.ts"],
    reason: "Rules are pure: they know windows, limits and amounts, and no store, clock or process.",
    imports: [
      ...["ledger/rules/*.js", "ledger/credit-ledger.js", "ledger/limits.js", "ledger/calendar.js"],
      ...["ledger/usage/usage-request.js", "prices/micro.js"],
    ],
  },
  ...(
    [
      ["memory", [""], ["runtime/host-code.js", "check"], ["zod"]],
      [
        "redis",
        ["", "*/"],
        [
          ...["runtime", "prices", "cache/response-cache-store.js", "ledger/guard/time-limit.js"],
          "check/known-options.js",
        ],
        ["lru-cache", "node:buffer"],
      ],
      ["postgres", ["", "*/", "*/*/"], ["runtime", "prices", "check"], []],
      ["mysql", [""], ["check"], ["node:buffer"]],
      ["sqlite", ["", "*/", "*/*/"], ["runtime", "prices", "check"], ["node:timers/promises"]],
    ] as const
  ).map(([store, depths, imports, packages]) => ({
    files: depths.map((depth) => `stores/${store}/${depth}*.ts`),
    reason: "A store knows the contracts that it keeps, and no other store.",
    imports: [`stores/${store}`, "stores/database-stores.js", ...contracts, ...imports],
    packages,
  })),
  {
    files: ["observe/logs.ts", "observe/live-requests.ts"],
    reason: "Logs and live requests need no package.",
    imports: ["gateway/observers/observer.js", "events", "prices/usage-counts.js", hostCode],
  },
  {
    files: ["observe/otel/*.ts"],
    reason: "Only these files know OpenTelemetry.",
    imports: [
      ...["observe/otel", "gateway/observers/observer.js", hostCode, "gateway/gateway-health.js"],
      ...["events", "prices/usage-counts.js", "protocols/shared/call-content.js"],
    ],
    packages: ["@opentelemetry/api"],
  },
  {
    files: ["observe/prometheus/*.ts"],
    reason: "Only these files know prom-client.",
    imports: [
      ...["observe/prometheus", "gateway/observers/observer.js", "gateway/gateway-health.js", "events"],
      ...["ledger/guard/ledger-event.js", "prices/usage-counts.js"],
    ],
    packages: ["prom-client"],
  },
  {
    files: ["adapters/*.ts"],
    reason: "An adapter imports the gateway, the bridge of Node and files of its own, and no framework.",
    imports: ["adapters/node.js", "gateway/gateway.js"],
    packages: ["node:*"],
  },
  {
    files: ["adapters/node*.ts"],
    reason: "The bridge of Node imports the gateway and its own files.",
    imports: ["adapters/node-*.js", "gateway/gateway.js"],
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
    imports: ["*/*.js", "*/*/*.js", "*/*/*/*.js"],
  },
];
