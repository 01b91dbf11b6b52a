import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { resolveOptions } from "../../../src/gateway/resolve-options.js";
import { restrictions } from "../../../src/protocols/shared/dialect.js";
import { checkOpenAICompatibleOptions } from "../../../src/providers/openai-compatible-options.js";
import { pageOf, root } from "./documentation.js";

/** The rows of a page's tables, by the name in their first cell. */
function rowsOf(page: string): ReadonlyMap<string, readonly string[]> {
  const found = [...pageOf(page).matchAll(/^\| `(\w+)` \|(.*)\|$/gm)];
  return new Map(found.map(([, name = "", rest = ""]) => [name, rest.split(" | ").map((cell) => cell.trim())]));
}

function membersOf(path: string, name: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(`${root}src/${path}`, "utf8"), ts.ScriptTarget.ES2022);
  const found = file.statements.filter(ts.isInterfaceDeclaration).find((declared) => declared.name.text === name);
  return (found?.members ?? []).map((member) => member.name?.getText(file) ?? "");
}

function wordsOfCode(page: string): ReadonlySet<string> {
  const spans = [...pageOf(page).matchAll(/```ts\n[\s\S]*?```|`[^`\n]+`/g)];
  return new Set(spans.flatMap(([span]) => words(span)));
}

function words(span: string): string[] {
  return span.match(/\w+/g) ?? [];
}

function toNumber(cell = ""): number {
  const mebibytes = /^(\d+) MiB$/.exec(cell)?.[1];
  return mebibytes === undefined ? Number(cell.replace(",", "")) : Number(mebibytes) * 1024 * 1024;
}

/** For those to whom microseconds count; and what there is one of, as in a call's `endpoint`. */
const undocumented = ["notice", "endpoint"];

describe("the reference", () => {
  it.each([
    ["docs/models.md", "gateway/models/model.ts", "Model"],
    ["docs/targets.md", "gateway/models/target-options.ts", "RoutingOptions"],
    ["docs/targets.md", "routing/breaker.ts", "BreakerOptions"],
    ["docs/models.md", "prices/price.ts", "Price"],
    ["docs/options.md", "gateway/options.ts", "GatewayOptions"],
    ["docs/upstreams.md", "providers/openai-compatible-options.ts", "OpenAICompatibleOptions"],
    ["docs/upstreams.md", "protocols/shared/dialect.ts", "Dialect"],
    ["docs/stores.md", "gateway/options.ts", "LedgerOptions"],
    ["docs/cache.md", "cache/cached.ts", "CacheOptions"],
  ])("%s has a row for each member that %s gives %s", (page, path, name) => {
    const members = membersOf(path, name);
    expect(members.length).toBeGreaterThan(4);
    expect(members.filter((member) => !rowsOf(page).has(member))).toEqual([]);
  });

  it.each([
    ["docs/stores.md", "records/keys/key-store.ts", "ApiKey"],
    ["docs/stores.md", "records/plans/plan-store.ts", "Plan"],
    ["docs/stores.md", "ledger/credit-ledger.ts", "CreditLedger"],
    ["docs/hooks.md", "events/request-completed.ts", "RequestCompleted"],
    ["docs/hooks.md", "events/warning.ts", "GatewayWarning"],
    ["docs/hooks.md", "events/request-completed.ts", "UpstreamAttempt"],
    ["docs/targets.md", "gateway/models/target-options.ts", "TargetOptions"],
    ["docs/targets.md", "routing/target.ts", "TargetHealth"],
    ["docs/hooks.md", "prices/usage-counts.ts", "TokenCounts"],
    ["docs/upstreams.md", "providers/upstream-provider.ts", "UpstreamCall"],
    ["docs/accounts.md", "gateway/admin/managed-accounts.ts", "ManagedAccounts"],
    ["docs/accounts.md", "gateway/admin/managed-keys.ts", "ManagedKeys"],
  ])("%s names each member that %s gives %s", (page, path, name) => {
    const members = membersOf(path, name).filter((member) => !undocumented.includes(member));
    expect(members.length).toBeGreaterThan(3);
    const named = wordsOfCode(page);
    expect(members.filter((member) => !named.has(member))).toEqual([]);
  });

  it("has the defaults that the source has", () => {
    const stores = { find: () => undefined };
    const ledger = { reserve() {}, renew() {}, settle() {}, release() {} };
    const options = { models: [], keys: stores, plans: stores, ledger, providers: {} };
    const { transport } = checkOpenAICompatibleOptions({ baseURL: "http://localhost/v1" });
    const resolved = resolveOptions(options as never);
    const sources = {
      "docs/options.md": resolved,
      "docs/stores.md": resolved.ledgerOptions,
      "docs/upstreams.md": transport,
    };
    for (const [page, defaults] of Object.entries(sources)) {
      const numbers = Object.entries(defaults).filter(([, value]) => typeof value === "number");
      expect(numbers.length).toBeGreaterThan(2);
      const rows = rowsOf(page);
      expect(numbers.map(([name]) => [name, toNumber(rows.get(name)?.at(-1))])).toEqual(numbers);
    }
  });

  it("names every error and every warning", () => {
    const folders = ["errors", "protocols", "http", "routing", "access", "call", "server"];
    const files = folders
      .flatMap((folder) => readdirSync(`${root}src/${folder}`, { recursive: true }).map((file) => `${folder}/${file}`))
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(`${root}src/${file}`, "utf8"));
    const codes = files.flatMap((text) => [...text.matchAll(/\bcode: "([a-z_]+)"/g)].map(([, code = ""]) => code));
    expect(new Set(codes).size).toBeGreaterThan(20);
    const reference = pageOf("docs/errors.md") + pageOf("docs/hooks.md");
    expect([...new Set(codes)].filter((code) => code !== "custom" && !reference.includes(`\`${code}\``))).toEqual([]);
  });

  it("has the restricted members, and what becomes of them, as the source has them", () => {
    const listed = pageOf("docs/restricted-members.md")
      .split("\n")
      .map((line) => line.split(" | "))
      .filter((cells) => cells.length === 4 && !cells[0]?.includes(" of other types"))
      .flatMap(([names = "", , , verdict = ""]) =>
        words(names).map((name) => `${name} ${verdict.replace(/ \|$/, "")}`),
      );
    const verdicts = { refuse: "refuses", drop: "leaves out" };
    const known = restrictions.flatMap(({ names, rule }) => names.map((name) => `${name} ${verdicts[rule]}`));
    expect(known.length).toBeGreaterThan(80);
    expect(listed.filter((row) => !row.startsWith("members "))).toEqual(known);
  });
});
