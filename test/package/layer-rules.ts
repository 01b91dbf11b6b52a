import { type Layer, layers } from "./layers.js";

/** The overrides of `biome.json` by which the linter holds the layers. */
export function layerRules(): object[] {
  return [
    ...layers.flatMap((layer) => [
      rule([`src/${layer.folder}/*.ts`], layer, 0),
      rule([`src/${layer.folder}/*/*.ts`], layer, 1),
    ]),
    ...special,
  ];
}

function rule(includes: string[], { folder, question, imports, packages = [] }: Layer, depth: number): object {
  const up = depth === 0 ? "../" : "../../";
  const own = depth === 0 ? ["!./*.js", "!./*/*.js"] : ["!./*.js", "!../*.js", "!../*/*.js", "../../*.js"];
  const others = imports.flatMap((name) => (name.endsWith(".js") ? [`!${up}${name}`] : [`!${up}${name}/**`]));
  const message = `${folder}/ answers: ${question} What it may import is in test/package/layers.ts.`;
  return override(includes, ["**", ...own, ...others, ...packages.map((name) => `!${name}`)], message);
}

function override(includes: string[], group: string[], message: string): object {
  const noRestrictedImports = { level: "error", options: { patterns: [{ group, message }] } };
  return { includes, linter: { rules: { style: { noRestrictedImports } } } };
}

/** What holds for some files only: later rules replace earlier ones. */
const special = [
  override(
    ["src/providers/transport/undici-*.ts"],
    [
      "**",
      "!./*.js",
      "!../*.js",
      "!../../openai/**",
      "!../../errors/**",
      "!../../wire/**",
      "!undici",
      "!undici/**",
      "!node:*",
    ],
    "Only these files know undici.",
  ),
  override(
    [
      "src/keys/key-store.ts",
      "src/plans/plan-store.ts",
      "src/ledger/credit-ledger.ts",
      "src/responses/response-store.ts",
      "src/providers/upstream-provider.ts",
    ],
    [
      "**",
      "!./*-limit.js",
      "!./prepaid-state.js",
      "!./usage/usage-sum.js",
      "!./usage/usage-totals.js",
      "!./statement/account-statement.js",
      "!./bounds.js",
      "!../metering/*",
      "!../budgets/budget-store.js",
      "!../check/without-nulls.js",
      "!../wire/*",
      "!../openai/**",
      "!../redaction/*",
    ],
    "A contract imports types of what is counted, and no folder that implements it.",
  ),
  override(
    ["src/adapters/*.ts"],
    ["**", "!./node.js", "!./fastify-*.js", "!./require-gateway.js", "!../gateway/gateway.js", "!node:*"],
    "An adapter imports gateway/gateway.ts, adapters/node.ts and files of its own, and no framework.",
  ),
  override(
    ["src/adapters/node*.ts"],
    ["**", "!./node-*.js", "!./require-gateway.js", "!../gateway/gateway.js", "!node:*"],
    "The bridge imports gateway/gateway.ts and its own files.",
  ),
  override(["src/*.ts"], ["**", "!./*/*.js", "!./*/*/*.js"], "An entry exports what src/ has."),
];
