import { describe, expect, it } from "vitest";
import { lintFiles } from "./lint-files.js";
import { Source } from "./source-rules.js";

const source = new Source();

/** What breaks a rule for now: each list is to become empty. */
const known = {
  sharedNames: [],
  fileNames: [
    "src/protocols/messages/claude-models.ts schemaModeOf",
    "src/protocols/translate/item-messages.ts addItem",
  ],
};

describe("the source", () => {
  it("spells wire formats out in the folders of the protocols only", () => {
    expect(source.wireLiterals()).toEqual([]);
    const probe = new Source({
      "src/routing/probe.ts": 'export const done = "data: [DONE]";\n// chatcmpl-1\nexport const id = `chatcmpl-`;',
      "src/protocols/chat/probe.ts": 'export const done = "data: [DONE]";',
    });
    const found = probe.wireLiterals().map((text) => text.replace(/ .*/, ""));
    expect(found).toEqual(["src/routing/probe.ts:1", "src/routing/probe.ts:3"]);
  });

  it("hides nothing behind functions, in weak collections", () => {
    expect(source.functionKeys()).toEqual([]);
    const probe = new Source({
      "src/call/probe.ts": [
        "type Reserve = (id: string) => void;",
        "interface Named { readonly name: string; readonly id: string }",
        "export const first = new WeakMap<Reserve, string>();",
        "export const second = new WeakSet<object>();",
        "export const third: WeakMap<() => void, string> = new WeakMap();",
        "export const fourth = new WeakMap<Named, string>();",
      ].join("\n"),
    });
    expect(probe.functionKeys()).toEqual([
      "src/call/probe.ts:3 new WeakMap<Reserve, string>()",
      "src/call/probe.ts:4 new WeakSet<object>()",
      "src/call/probe.ts:5 new WeakMap()",
    ]);
  });

  it("passes services on as they are, and copies none", () => {
    expect(source.spreadServices()).toEqual([]);
    const probe = new Source({
      "src/call/probe.ts": [
        "interface CallServices { readonly now: () => number }",
        "export const first = (bag: CallServices) => ({ ...bag, extra: 1 });",
        "export const second = (services: { readonly now: () => number }) => ({ ...services, extra: 1 });",
        "export const third = (usage: { readonly output: number }) => ({ ...usage, extra: 1 });",
      ].join("\n"),
    });
    expect(probe.spreadServices()).toEqual(["src/call/probe.ts:2 ...bag", "src/call/probe.ts:3 ...services"]);
  });

  it("has one meaning for each exported name", () => {
    expect(source.sharedNames()).toEqual(known.sharedNames);
    const probe = new Source({
      "src/call/probe.ts": "export interface Probe { readonly id: string }",
      "src/routing/probe.ts": "export type Probe = string;",
      "src/probe.ts": 'export { Probe } from "./call/probe.js";',
    });
    expect(probe.sharedNames()).toContain("Probe: src/call/probe.ts, src/routing/probe.ts");
  });

  it("names files after what they export", () => {
    expect(source.fileNames()).toEqual(known.fileNames);
    const probe = new Source({
      "src/call/probe.ts": "export function sendCall(): void {}",
      "src/call/request-probe.ts": "export function toRequestProbe(): void {}",
    });
    expect(probe.fileNames()).toContain("src/call/probe.ts sendCall");
    expect(probe.fileNames()).not.toContain("src/call/request-probe.ts toRequestProbe");
  });

  it("has functions of at most 100 lines and 4 parameters: the linter holds it", async () => {
    const lines = (count: number) => `export function probe(): void {\n${"probe();\n".repeat(count)}}\n`;
    const long = {
      "src/call/probe.ts": lines(101),
      "src/wire/probe.ts": lines(100),
    };
    expect(await lintFiles(long, "complexity/noExcessiveLinesPerFunction")).toEqual(new Set(["src/call/probe.ts:1"]));

    const parameters = (names: string) => `export function probe(${names}): void {}\n`;
    const wide = { "src/call/probe.ts": parameters("a, b, c, d, e"), "src/wire/probe.ts": parameters("a, b, c, d") };
    expect(await lintFiles(wide, "complexity/useMaxParams")).toEqual(new Set(["src/call/probe.ts:1"]));
  });
});
