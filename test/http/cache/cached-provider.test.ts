import { describe, expect, it } from "vitest";
import { cached } from "../../../src/cache/cached.js";
import { CopiedBody } from "../../../src/cache/response-cache.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { UpstreamCall, UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { readAll, upstreamCall } from "../../../src/testing/upstream-operations/operation-rules.js";
import { chatAnswer, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { startCache } from "../../support/cache/start-cache.js";

/** A host's own provider, which notes its calls. */
function ownProvider() {
  const calls: UpstreamCall[] = [];
  const closed: string[] = [];
  const provider: UpstreamProvider = {
    operations: ["chat/completions"],
    async call(call) {
      calls.push({ ...call });
      const body = async function* () {
        yield Buffer.from(JSON.stringify(chatAnswer()));
      };
      return { status: 200, headers: { "content-type": "application/json" }, body: body() };
    },
    secrets: () => ({ urls: ["https://own.test"] }),
    async forget(account) {
      closed.push(`forget ${account}`);
    },
    async close() {
      closed.push("close");
    },
  };
  return { provider, calls, closed };
}

describe("a cached provider", () => {
  it("may be the host's own, which gets its calls as without the cache, and is forgotten and closed with it", async () => {
    const { provider, calls, closed } = ownProvider();
    const { post, gateway, events } = await startCache({ providers: { fake: provider } });
    expect((await post()).cached).toBe("miss");
    expect((await post()).cached).toBe("hit");
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({ account: "acct_pro", expects: "document", contentType: "application/json" });
    expect(JSON.parse(Buffer.from(calls[0]?.body ?? []).toString()).model).toBe("upstream-small");
    expect(calls[0]?.signal).toBeInstanceOf(AbortSignal);
    expect(calls[0]).not.toHaveProperty("client");
    expect(events.map(({ usageSource }) => usageSource)).toEqual(["provider", "cache"]);
    await gateway.accounts.forget("acct_basic");
    await gateway.close();
    expect(closed).toEqual(["forget acct_basic", "close"]);
  });

  it("keeps nothing of clients that leave, nor the room for it", async () => {
    const answer = { status: 200, headers: {} };
    const room = { left: 1000 };
    let go = (): void => {};
    const pieces = async function* () {
      yield Buffer.alloc(100);
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      yield Buffer.alloc(200);
    };
    const copied = new CopiedBody({ ...answer, body: pieces() }, { most: 500, room });
    await copied.next();
    const late = copied.next();
    const left = copied.return();
    go();
    await Promise.all([late, left]);
    expect(room.left).toBe(1000);
  });

  it("is wrapped once", () => {
    const once = cached(openAICompatible({ baseURL: "http://127.0.0.1:1/v1" }));
    expect(() => cached(once)).toThrow("this provider keeps its responses already");
  });

  it("has the operations, dialect and secrets of the one that it wraps", () => {
    const { provider } = ownProvider();
    const wrapped = cached({ ...provider, dialect: { capName: "max_tokens" } });
    expect(wrapped).toMatchObject({ operations: ["chat/completions"], dialect: { capName: "max_tokens" } });
    expect(wrapped.secrets?.()).toEqual({ urls: ["https://own.test"] });
  });

  it("keeps nothing of calls that are not the gateway's: nobody would charge a share of them", async () => {
    const upstream = await startFakeUpstream();
    try {
      upstream.reply(wholeAnswer(chatAnswer()));
      for (const inner of [openAICompatible({ baseURL: upstream.url }), ownProvider().provider]) {
        const provider = cached(inner, { mode: "always" });
        for (const _ of [1, 2]) {
          const answer = await provider.call(upstreamCall());
          expect(answer.status).toBe(200);
          expect((await readAll(answer.body)).length).toBeGreaterThan(0);
        }
        await provider.close?.();
      }
      expect(upstream.requests).toHaveLength(2);
    } finally {
      await upstream.close();
    }
  });

  it("is no other one than that of equal options", async () => {
    const { post, gateway, keeping, provider } = await startCache();
    await post();
    await gateway.update({ providers: { fake: keeping(provider) } });
    expect((await post()).cached).toBe("hit");
    await gateway.update({ providers: { fake: cached(provider, { mode: "always", share: 0.5 }) } });
    expect((await post()).cached).toBe("miss");
  });

  it.each([
    [{ price: 1 }, "price"],
    [{ share: 1.5 }, "share"],
    [{ share: Number.NaN }, "share"],
    [{ ttlMs: 0 }, "ttlMs"],
    [{ mode: "never" }, "mode"],
    [{ maxResponseBytes: 2 ** 30 }, "maxResponseBytes"],
  ])("refuses %j", (options, member) => {
    expect(() => cached(ownProvider().provider, options as object)).toThrow(
      new RegExp(`^cached: the options are not valid: .*${member}`, "s"),
    );
  });

  it("tells nothing of its server by what it has kept", async () => {
    const { post, gateway } = await startCache();
    await post();
    const before = gateway.health();
    for (const _ of [1, 2]) expect((await post()).cached).toBe("hit");
    expect(gateway.health()).toEqual(before);
    expect(before.models["acme/small"]?.targets).toMatchObject([{ answered: 1 }]);
  });
});
