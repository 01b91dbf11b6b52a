import { afterEach, describe, expect, it } from "vitest";
import { wholeAnswer } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

async function startCalled(tags: Record<string, string>): Promise<TestGateway> {
  test = await startTestGateway({ onRequest: () => ({ tags }) });
  test.upstream.reply(wholeAnswer());
  expect((await test.gateway.handler(chatRequest())).status).toBe(200);
  return test;
}

describe("what usage is summed by", () => {
  it.each([
    ["hour", "day"],
    ["days", "day"],
    ["Day", "day"],
    ["models", "model"],
    ["modelId", "model"],
    ["model_id", "model"],
    ["keyId", "key"],
    ["KEYS", "key"],
    ["apiKey", "key"],
    ["Funding", "funding"],
  ])("is not %s, which is taken for %s", async (name, meant) => {
    const { gateway } = await startCalled({ team: "red" });
    const sums = gateway.accounts.usage("acct_pro", { by: ["team", name] });
    await expect(sums).rejects.toThrow(TypeError);
    await expect(sums).rejects.toThrow(
      `gateway.accounts.usage: by[1]: must be day, model, key, funding or the name of a tag, not \`${name}\` (did you mean \`${meant}\`?)`,
    );
  });

  it("is no tag's name that none can have", async () => {
    const { gateway } = await startCalled({ team: "red" });
    await expect(gateway.accounts.usage("acct_pro", { by: ["a b"] })).rejects.toThrow(
      /by\[0\]: must be day, model, key/,
    );
  });

  it("may be a tag with a name like those", async () => {
    const tags = { mode: "fast", node: "1", week: "2026-W11", keyring: "x", monkey: "y" };
    const { gateway, warnings } = await startCalled(tags);
    const [sum, ...others] = await gateway.accounts.usage("acct_pro", { by: Object.keys(tags) });
    expect(others).toEqual([]);
    expect(sum?.by).toEqual(tags);
    expect(warnings).toEqual([]);
  });

  it("is warned of once where no charge has such a tag, with the one that was probably meant", async () => {
    const { gateway, warnings } = await startCalled({ team: "red" });
    const { accounts } = gateway;
    expect(await accounts.usage("acct_basic", { by: ["teem"] })).toEqual([]);
    expect(warnings).toEqual([]);
    await accounts.usage("acct_pro", { by: ["team", "day", "funding"] });
    expect(warnings).toEqual([]);
    for (let asked = 0; asked < 2; asked++) {
      expect(await accounts.usage("acct_pro", { by: ["teem"] })).toMatchObject([{ by: { teem: null }, requests: 1 }]);
    }
    expect(warnings).toEqual([
      {
        code: "unknown_tag",
        message:
          "gateway.accounts.usage: none of the charges that were summed up has the tag `teem`, so every sum has `null` " +
          "for it. Did you mean `team`?",
      },
    ]);
  });

  it("is not warned of where some account's charges have the tag", async () => {
    const { gateway, warnings } = await startCalled({ team: "red" });
    await gateway.accounts.usage("acct_pro", { by: ["team"] });
    const hold = await gateway.accounts.hold("acct_basic", { id: "h", credits: 1 });
    await hold.settle({ credits: 1 });
    expect(await gateway.accounts.usage("acct_basic", { by: ["team"] })).toMatchObject([{ by: { team: null } }]);
    expect(warnings).toEqual([]);
  });

  it("ends before `to`", async () => {
    const { gateway } = await startCalled({ team: "red" });
    const { accounts } = gateway;
    const [entry] = (await accounts.history("acct_pro")).entries;
    const at = entry?.at ?? 0;
    for (const [range, found] of [
      [{ from: at, to: at + 1 }, 1],
      [{ to: at }, 0],
      [{ from: at + 1 }, 0],
    ] as const) {
      expect((await accounts.history("acct_pro", range)).entries).toHaveLength(found);
      expect(await accounts.usage("acct_pro", range)).toHaveLength(found);
      expect(await accounts.usage("acct_pro", { ...range, by: ["team"] })).toHaveLength(found);
    }
  });
});

describe("a tag", () => {
  it.each(["hour", "keyId", "Model", "funding"])("cannot have the name %s", async (name) => {
    test = await startTestGateway();
    const { gateway } = test;
    const reserved = new RegExp(`tags\\.${name}: must have another name: this one is reserved`);
    await expect(gateway.accounts.hold("acct_pro", { id: "h", credits: 1, tags: { [name]: "x" } })).rejects.toThrow(
      reserved,
    );
    expect(() => gateway.as({ account: "acct_pro", tags: { [name]: "x" } })).toThrow(reserved);
  });
});
