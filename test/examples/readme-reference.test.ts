import { readdirSync, readFileSync } from "node:fs";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { resolveOptions } from "../../src/gateway/options.js";
import { restrictions } from "../../src/openai/request/restricted-members.js";
import { checkOpenAICompatibleOptions } from "../../src/providers/openai-compatible-options.js";
import { readme, root } from "./readme.js";

/** The tables' rows by the name in their first cell. */
const rows = new Map(
  [...readme.matchAll(/^\| `(\w+)` \|(.*)\|$/gm)].map(([, name = "", rest = ""]) => [
    name,
    rest.split(" | ").map((cell) => cell.trim()),
  ]),
);

function membersOf(path: string, name: string): string[] {
  const file = ts.createSourceFile(path, readFileSync(`${root}src/${path}`, "utf8"), ts.ScriptTarget.ES2022);
  const found = file.statements.filter(ts.isInterfaceDeclaration).find((declared) => declared.name.text === name);
  return (found?.members ?? []).map((member) => member.name?.getText(file) ?? "");
}

describe("the README's reference", () => {
  it.each([
    ["gateway/options.ts", "Model"],
    ["gateway/target-options.ts", "RoutingOptions"],
    ["routing/breaker.ts", "BreakerOptions"],
    ["metering/price.ts", "Price"],
    ["gateway/options.ts", "GatewayOptions"],
    ["providers/openai-compatible-options.ts", "OpenAICompatibleOptions"],
    ["openai/dialect.ts", "Dialect"],
  ])("in %s has a row for each member of %s", (path, name) => {
    const members = membersOf(path, name).filter((member) => !requiredOptions.includes(member));
    expect(members.length).toBeGreaterThan(4);
    expect(members.filter((member) => !rows.has(member))).toEqual([]);
  });

  it.each([
    ["keys/key-store.ts", "ApiKey"],
    ["plans/plan-store.ts", "Plan"],
    ["ledger/credit-ledger.ts", "CreditLedger"],
    ["events/request-completed.ts", "RequestCompleted"],
    ["events/warning.ts", "GatewayWarning"],
    ["events/request-completed.ts", "UpstreamAttempt"],
    ["gateway/target-options.ts", "TargetOptions"],
    ["routing/target-health.ts", "TargetHealth"],
    ["metering/token-counts.ts", "TokenCounts"],
    ["providers/upstream-provider.ts", "UpstreamCall"],
  ])("in %s names each member of %s", (path, name) => {
    const members = membersOf(path, name).filter((member) => !undocumented.includes(member));
    expect(members.length).toBeGreaterThan(3);
    expect(members.filter((member) => !codeSpans.some((span) => words(span).includes(member)))).toEqual([]);
  });

  it("has the defaults that the source has", () => {
    const stores = { find: () => undefined };
    const ledger = { reserve() {}, renew() {}, settle() {}, release() {} };
    const options = { models: [], keys: stores, plans: stores, ledger, providers: {} };
    const { transport } = checkOpenAICompatibleOptions({ baseURL: "http://localhost/v1" });
    for (const [name, value] of Object.entries({ ...resolveOptions(options as never), ...transport })) {
      if (typeof value === "number") expect([name, toNumber(rows.get(name)?.at(-1))]).toEqual([name, value]);
    }
  });

  it("names every error and every warning", () => {
    const folders = ["errors", "openai", "http", "routing", "access", "call", "server"];
    const files = folders
      .flatMap((folder) => readdirSync(`${root}src/${folder}`, { recursive: true }).map((file) => `${folder}/${file}`))
      .filter((file) => file.endsWith(".ts"))
      .map((file) => readFileSync(`${root}src/${file}`, "utf8"));
    const codes = files.flatMap((text) => [...text.matchAll(/\bcode: "([a-z_]+)"/g)].map(([, code = ""]) => code));
    expect(new Set(codes).size).toBeGreaterThan(20);
    expect([...new Set(codes)].filter((code) => code !== "custom" && !readme.includes(`\`${code}\``))).toEqual([]);
  });
});

const requiredOptions = ["models", "keys", "plans", "ledger", "providers"];

/** For those to whom microseconds count; and what there is one of, as in a call's `endpoint`. */
const undocumented = ["notice", "endpoint"];

const codeSpans = [...readme.matchAll(/```ts\n[\s\S]*?```|`[^`\n]+`/g)].map(([span]) => span);

function words(span: string): string[] {
  return span.match(/\w+/g) ?? [];
}

function toNumber(cell = ""): number {
  const mebibytes = /^(\d+) MiB$/.exec(cell)?.[1];
  return mebibytes === undefined ? Number(cell.replace(",", "")) : Number(mebibytes) * 1024 * 1024;
}

it("has the restricted members, and what becomes of them, as the source has them", () => {
  const section = readme.split("### Restricted members")[1]?.split("\n### ")[0] ?? "";
  const listed = section
    .split("\n")
    .map((line) => line.split(" | "))
    .filter((cells) => cells.length === 4 && !cells[0]?.includes(" of other types"))
    .flatMap(([names = "", , , verdict = ""]) => words(names).map((name) => `${name} ${verdict.replace(/ \|$/, "")}`));
  const verdicts = { refuse: "refuses", drop: "leaves out" };
  const known = restrictions.flatMap(({ names, rule }) => names.map((name) => `${name} ${verdicts[rule]}`));
  expect(known.length).toBeGreaterThan(80);
  expect(listed.filter((row) => !row.startsWith("members "))).toEqual(known);
});
