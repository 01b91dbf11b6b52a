import { describe, expect, it } from "vitest";
import type { GatewayWarning } from "../../../src/events/warning.js";
import { createGateway } from "../../../src/gateway/create-gateway.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { getRequest, smallModel } from "../../support/test-gateway.js";

function options(): GatewayOptions {
  return {
    models: [smallModel],
    keys: memoryKeyStore([]),
    plans: memoryPlanStore({ pro: { models: ["acme/*"] } }),
    ledger: memoryCreditLedger(),
    providers: { fake: openAICompatible({ baseURL: "http://127.0.0.1:1/v1" }) },
  };
}

/** Options as a user of plain JavaScript might write them. */
function create(changes: Record<string, unknown>): ReturnType<typeof createGateway> {
  return createGateway({ ...options(), ...changes } as GatewayOptions);
}

describe("createGateway refuses", () => {
  it.each([
    ["an unknown option", { modles: [] }, /no option `modles` \(did you mean `models`\?\)/],
    ["an option in other letters", { basepath: "/ai" }, /`basePath`/],
    ["an option like no other", { retries: 3 }, /no option `retries`$/m],
    ["a list of keys in place of a key store", { keys: [] }, /key store, such as memoryKeyStore/],
    ["a list of plans in place of a plan store", { plans: [] }, /plan store, such as memoryPlanStore/],
    ["an origin with a path", { cors: { origins: ["https://app.example.com/"] } }, /without a path/],
    ["no key store", { keys: undefined }, /: keys: .*key store, such as memoryKeyStore/],
    ["a plan store of another kind", { plans: {} }, /plan store/],
    ["a ledger of another kind", { ledger: { reserve() {} } }, /credit ledger/],
    ["a provider of another kind", { providers: { fake: {} } }, /providers\.fake: .*openAICompatible/],
    [
      "a provider that does not exist",
      { models: [{ ...smallModel, upstream: { provider: "fakr", model: "m" } }] },
      /"acme\/small" names the provider "fakr"[\s\S]*"fake"/,
    ],
    ["two models of one id", { models: [smallModel, smallModel] }, /"acme\/small" appears twice/],
    [
      "what is missing from a model",
      { models: [{ id: "a" }] },
      /✖ models\[0\]\.type: must be "chat" or .*\n✖ models\[0\]\.price: must be \{ input, output \}.*\n✖ models\[0\]\.upstream: must be \{ provider, model \}/,
    ],
    [
      "the name of a provider for a target",
      { models: [{ ...smallModel, upstream: "fake" }] },
      /upstream: must be \{ provider/,
    ],
    [
      "prices by other names",
      { models: [{ ...smallModel, price: { input: 1, output: 1, prompt: 1, completion: 2 } }] },
      /models\[0\]\.price: There is no option `prompt`, `completion` \(there are `input`, `cachedInput`, `cacheWrite`,/,
    ],
    [
      "the beginning of an option of the ledger",
      { ledgerOptions: { onUnavail: "deny" } },
      /ledgerOptions: There is no option `onUnavail` \(did you mean `onUnavailable`\?\)/,
    ],
    ["a misspelled option of the ledger", { ledgerOptions: { reserveTimeout: 5 } }, /reserveTimeout/],
    ["a time-out of nothing", { ledgerOptions: { settleTimeoutMs: 0 } }, /settleTimeoutMs/],
    ["a word for what there is none", { ledgerOptions: { onUnavailable: "ignore" } }, /"deny", "allow" or \{ insure/],
    ["an insurance below nothing", { ledgerOptions: { onUnavailable: { insure: { credits: -1 } } } }, /insure/],
    [
      "less room than one body needs",
      { maxBodyBytes: 1000, maxPendingBodyBytes: 999 },
      /maxPendingBodyBytes must be at least maxBodyBytes, 1000/,
    ],
    ["a negative speed", { minBodyBytesPerSecond: -1 }, /minBodyBytesPerSecond/],
    ["a stall of nothing", { maxStallMs: 0 }, /maxStallMs/],
    ["a longest answer that no timer can measure", { maxResponseMs: 2 ** 31 }, /maxResponseMs/],
    ["a time-out of stores that is no number", { storeTimeoutMs: "2s" }, /storeTimeoutMs/],
    ["an unknown member of a model", { models: [{ ...smallModel, max_output_tokens: 5 }] }, /max_output_tokens/],
    ["a negative price", { models: [{ ...smallModel, price: { input: -1, output: 0 } }] }, /price\.input/],
    [
      "a price that is no number",
      { models: [{ ...smallModel, price: { input: Number.NaN, output: 0 } }] },
      /price\.input/,
    ],
    [
      "a chat model without a price of output",
      { models: [{ ...smallModel, price: { input: 1 } }] },
      /"acme\/small" has no price.output/,
    ],
    [
      "a price for what calls of a type never count",
      { models: [{ ...smallModel, price: { input: 1, output: 1, audioMinute: 0.006 } }] },
      /"acme\/small" has a price\.audioMinute, which calls of the type "chat" never count\. Leave it out\./,
    ],
    [
      "two rows for the same images",
      { models: [{ ...smallModel, price: { input: 1, output: 1, images: [{ credits: 1 }, { credits: 2 }] } }] },
      /models\[0\]\.price\.images: must not have two rows for the same quality and size/,
    ],
    [
      "a row for a size that is none",
      { models: [{ ...smallModel, price: { input: 1, output: 1, images: [{ size: "big", credits: 1 }] } }] },
      /models\[0\]\.price\.images\[0\]\.size: must be a width and a height in pixels/,
    ],
    ["an unknown kind of price", { models: [{ ...smallModel, price: { input: 1, output: 0, cached: 1 } }] }, /cached/],
    [
      "too fine a price",
      { models: [{ ...smallModel, price: { input: 1e-13, output: 0 } }] },
      /"acme\/small"[\s\S]*decimals/,
    ],
    [
      "a target without a model",
      { models: [{ ...smallModel, upstream: [{ provider: "fake" }] }] },
      /models\[0\]\.upstream\[0\]\.model/,
    ],
    [
      "an unknown member of a target",
      { models: [{ ...smallModel, upstream: { provider: "fake", model: "m", wieght: 1 } }] },
      /models\[0\]\.upstream: There is no option `wieght` \(did you mean `weight`\?\)/,
    ],
    ["no target at all", { models: [{ ...smallModel, upstream: [] }] }, /must name at least one target/],
    [
      "a second target's provider that does not exist",
      { models: [{ ...smallModel, upstream: [smallModel.upstream, { provider: "fakr", model: "m" }] }] },
      /"acme\/small" names the provider "fakr"/,
    ],
    [
      "a target's price without one of output",
      { models: [{ ...smallModel, upstream: { provider: "fake", model: "m", price: { input: 1 } } }] },
      /target "fake" of the model "acme\/small" has no price.output/,
    ],
    [
      "a target's price that is too fine",
      { models: [{ ...smallModel, upstream: { provider: "fake", model: "m", price: { input: 1e-13, output: 0 } } }] },
      /"acme\/small"[\s\S]*decimals/,
    ],
    [
      "priorities of some targets only",
      {
        models: [
          {
            ...smallModel,
            upstream: [
              { provider: "fake", model: "m", priority: 1 },
              { provider: "fake", model: "n" },
            ],
          },
        ],
      },
      /Give it to all, or to none/,
    ],
    [
      "a weight of nothing",
      { models: [{ ...smallModel, upstream: { provider: "fake", model: "m", weight: 0 } }] },
      /upstream\.weight/,
    ],
    [
      "an unknown way of routing",
      { models: [{ ...smallModel, maxAttempt: 3 }] },
      /no option `maxAttempt` \(did you mean `maxAttempts`\?\)/,
    ],
    ["a breaker that is on", { models: [{ ...smallModel, breaker: true }] }, /breaker/],
    ["another disconnect policy", { models: [{ ...smallModel, disconnect: "ignore" }] }, /"cancel", "drain" or/],
    ["no context length", { models: [{ ...smallModel, contextLength: 0 }] }, /contextLength/],
    ["more output than context", { models: [{ ...smallModel, contextLength: 10 }] }, /maxOutputTokens larger/],
    ["another type of model", { models: [{ ...smallModel, type: "image" }] }, /type/],
    ["an id with a star", { models: [{ ...smallModel, id: "acme/*" }] }, /models\[0\]\.id/],
    [
      "an extra that replaces what the gateway sets",
      { models: [{ ...smallModel, extra: { id: "x" } }] },
      /must not set/,
    ],
    ["a base path without a slash", { basePath: "ai" }, /must start with a slash/],
    ["a size in words", { maxBodyBytes: "32mb" }, /maxBodyBytes/],
    ["a time below zero", { keepAliveMs: -1 }, /keepAliveMs/],
    ["a hook that is none", { onRequestCompleted: "log" }, /onRequestCompleted/],
  ])("%s", (_name, changes, message) => {
    expect(() => create(changes)).toThrow(TypeError);
    expect(() => create(changes)).toThrow(message);
  });

  it("several things at once, with a line for each", () => {
    expect(() => create({ basePath: "ai" })).toThrow(/^createGateway: the options are not valid: basePath: must .*$/);
    const several = { basePath: "ai", models: [{ ...smallModel, id: 5, price: { input: "1", output: 0 } }] };
    let message = "";
    try {
      create(several);
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message.split("\n")).toEqual([
      "createGateway: the options are not valid:",
      expect.stringMatching(/^✖ basePath: must start with a slash/),
      expect.stringMatching(/^✖ models\[0\]\.id: /),
      expect.stringMatching(/^✖ models\[0\]\.price\.input: /),
    ]);
  });

  it("nothing in options that are valid", () => {
    expect(() => create({ basePath: "/api/ai/", cors: true, closeGraceMs: 0 })).not.toThrow();
  });

  it("neither CORS that is switched off nor Date as the clock", () => {
    expect(() => create({ cors: false, clock: Date })).not.toThrow();
  });
});

describe("createGateway warns", () => {
  it("of a plan's pattern that matches nothing, once", async () => {
    const warnings: GatewayWarning[] = [];
    const gateway = create({
      keys: memoryKeyStore([{ key: "sk-pro", account: "acct_1", plan: "pro" }]),
      plans: memoryPlanStore({
        pro: {
          models: ["acme/*", "acne/small"],
          rates: { models: { "acme/*": { concurrent: 3 }, "acne/*": { concurrent: 2 } } },
        },
      }),
      onWarning: (warning: GatewayWarning) => warnings.push(warning),
    });
    const expected = ['names the model "acne/small"', 'limits the rates of the model "acne/*"'].map((text) => ({
      code: "unmatched_plan_pattern",
      message: expect.stringContaining(text),
    }));
    expect(warnings).toMatchObject(expected);
    expect((await gateway.handler(getRequest("/v1/models", "sk-pro"))).status).toBe(200);
    expect(warnings).toMatchObject(expected);
    await gateway.close();
  });
});

describe("basePath", () => {
  it.each([
    ["/api/ai", "/api/ai"],
    ["/api/ai//", "/api/ai"],
    ["/", ""],
    ["", ""],
  ])("of %j is taken as %j", (basePath, resolved) => {
    expect(createGateway({ ...options(), basePath }).basePath).toBe(resolved);
  });
});
