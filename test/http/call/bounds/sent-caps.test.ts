import { afterAll, describe, expect, it } from "vitest";
import type { Dialect } from "../../../../src/protocols/shared/dialect.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { type Protocol, protocols } from "./greedy-upstream.js";
import { startBounded, withBounded } from "./start-bounded.js";

afterAll(expectNoSockets);

const price = { input: 0, output: 1 };

/** What goes to the upstream of its caps, and what is held: as many micro-credits as tokens of output. */
async function capsOf(
  { client, target, dialect }: { client: Protocol; target: Protocol; dialect?: Dialect },
  members: Record<string, unknown>,
  { planCap, ...model }: { planCap?: number; maxOutputTokens?: number | undefined; contextLength?: number } = {},
) {
  const server = await startBounded({
    target,
    ...(dialect && { dialect }),
    model: { price, ...model },
    plan: { defaultOutputTokens: planCap },
  });
  try {
    const response = await server.call(client, members);
    await response.text();
    await expect.poll(() => server.events.length).toBe(1);
    const { json } = server.upstream.lastRequest;
    const sent = Object.fromEntries(Object.entries(json).filter(([name]) => /^max_|predict/i.test(name)));
    expect(server.warnings).toEqual([]);
    return { sent, held: server.events[0]?.heldMicro, charged: server.events[0]?.chargedMicro };
  } finally {
    await server.close();
  }
}

const chat = { client: "chat/completions", target: "chat/completions" } as const;

describe("the cap of a request", () => {
  it.each<[string, Dialect | undefined, string]>([
    ["as OpenAI calls it", undefined, "max_completion_tokens"],
    ["as its server calls it", { capName: "max_tokens" }, "max_tokens"],
    ["as its server calls it", { capName: "max_completion_tokens" }, "max_completion_tokens"],
  ])("is the plan's where it names none, %s: %j", async (_how, dialect, name) => {
    for (const client of protocols) {
      const { sent, held } = await capsOf(
        { client, target: "chat/completions", ...(dialect && { dialect }) },
        {},
        { planCap: 700 },
      );
      expect({ client, sent, held }).toEqual({ client, sent: { [name]: 700 }, held: 700 });
    }
  });

  it("is never above what the model can do, whoever names it", async () => {
    expect(await capsOf(chat, {}, { planCap: 700, maxOutputTokens: 600 })).toEqual({
      sent: { max_completion_tokens: 600 },
      held: 600,
      charged: 600,
    });
    const short = { maxOutputTokens: undefined, contextLength: 500 };
    expect(await capsOf(chat, { max_tokens: 9000 }, short)).toEqual({
      sent: { max_tokens: 500 },
      held: 500,
      charged: 500,
    });
    const native = { client: "responses", target: "responses" } as const;
    expect((await capsOf(native, { max_output_tokens: 9000 }, short)).sent).toEqual({ max_output_tokens: 500 });
    const messages = { client: "messages", target: "messages" } as const;
    expect((await capsOf(messages, { max_tokens: 9000 }, short)).sent).toEqual({ max_tokens: 500 });
  });

  it("is the client's own where it names one, be it above the plan's", async () => {
    const { sent, held } = await capsOf(chat, { max_tokens: 900 }, { planCap: 700 });
    expect({ sent, held }).toEqual({ sent: { max_tokens: 900 }, held: 900 });
    expect((await capsOf(chat, { max_tokens: null }, { planCap: 700 })).held).toBe(700);
  });

  it("is held at the larger of two, for each of several answers", async () => {
    const { sent, held } = await capsOf(chat, { max_tokens: 30, max_completion_tokens: 50, n: 4 });
    expect({ sent, held }).toEqual({ sent: { max_tokens: 30, max_completion_tokens: 50 }, held: 200 });
  });

  it("limits no hold where its server is not sent it", async () => {
    const dialect = { dropped: ["max_tokens", "max_completion_tokens"] };
    const { sent, held } = await capsOf({ ...chat, dialect }, { max_tokens: 30 }, { planCap: 20 });
    expect({ sent, held }).toEqual({ sent: {}, held: 64_000 });
  });

  it("limits no hold beside another that its server may heed, which is cut down as well", async () => {
    const { sent, held } = await capsOf(chat, { max_tokens: 30, n_predict: 1_000_000 });
    expect({ sent, held }).toEqual({ sent: { max_tokens: 30, n_predict: 64_000 }, held: 64_000 });
    expect((await capsOf(chat, { max_tokens: 30, nPredict: -1 })).sent).toEqual({ max_tokens: 30, nPredict: 64_000 });
    expect((await capsOf(chat, { max_tokens: 30, options: { num_predict: -1 } })).held).toBe(64_000);
  });

  it("is the usual one for a server of Messages, where nobody names any", async () => {
    const messages = { client: "chat/completions", target: "messages" } as const;
    const unknown = await capsOf(messages, {}, { maxOutputTokens: undefined, contextLength: 100_000 });
    expect(unknown).toEqual({ sent: { max_tokens: 4096 }, held: 100_000, charged: 4096 });
    expect((await capsOf(messages, {}, { maxOutputTokens: undefined, contextLength: 3000 })).sent).toEqual({
      max_tokens: 3000,
    });
  });

  it("is not for the host's hook to raise", async () => {
    const hook = (set: Record<string, unknown>) => ({ onRequest: () => ({ upstream: { set } }) });
    for (const name of ["max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict", "max_length"]) {
      await withBounded(
        { target: "chat/completions", ...hook({ [name]: 64_000 }) },
        async ({ call, upstream, warnings }) => {
          expect((await call("chat/completions", { max_tokens: 10 })).status).toBe(503);
          expect(upstream.requests).toHaveLength(0);
          expect(warnings[0]?.code).toBe("hook_failed");
        },
      )();
    }
  });
});
