import fc from "fast-check";
import { expect, it } from "vitest";
import { isGatewayError } from "../../../src/errors/gateway-error.js";
import { chatCompletions } from "../../../src/protocols/chat/chat-completions.js";
import { messages } from "../../../src/protocols/messages/messages.js";
import { responses } from "../../../src/protocols/responses/responses.js";
import { type Dialect, ModelDialect } from "../../../src/protocols/shared/dialect.js";
import { MemberRules } from "../../../src/protocols/shared/member-rules.js";
import type { ModelTraits, Operation, TargetTraits } from "../../../src/protocols/shared/operation.js";
import { plainModel } from "../../support/operations/responses/exchange-of.js";
import { ownSeal } from "../../support/own-seal.js";

type Protocol = "chat/completions" | "responses" | "messages";

const operations: Readonly<Record<Protocol, Operation>> = { "chat/completions": chatCompletions, responses, messages };

const capNames = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
const otherNames = ["n_predict", "num_predict", "max_new_tokens", "max_length", "nPredict", "max_gen_len"];

const cap = fc.oneof(fc.integer({ min: 1, max: 300_000 }), fc.integer({ min: 1, max: 50 }));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const dialects: readonly (Dialect | undefined)[] = [
  undefined,
  { capName: "max_tokens" },
  { capName: "max_completion_tokens" },
  { dropped: ["max_tokens", "max_completion_tokens"] },
  { capName: "max_tokens", dropped: ["max_tokens"] },
  { dropped: ["max_output_tokens"] },
  { renamed: { seed: "random_seed" }, developerRole: "system" },
];

interface Case {
  client: Protocol;
  target: Protocol;
  dialect: Dialect | undefined;
  caps: Record<string, number | null>;
  n: number;
  planCap: number | undefined;
  contextLength: number;
  maxOutputTokens: number | undefined;
  lacks: boolean;
  stream: boolean;
}

const cases: fc.Arbitrary<Case> = fc
  .record({
    client: fc.constantFrom<Protocol>("chat/completions", "responses", "messages"),
    target: fc.constantFrom<Protocol>("chat/completions", "responses", "messages"),
    dialect: fc.constantFrom(...dialects),
    own: fc.dictionary(fc.constantFrom(...capNames), fc.option(cap), { maxKeys: 2 }),
    others: fc.oneof(
      { weight: 3, arbitrary: fc.constant({}) },
      fc.dictionary(fc.constantFrom(...otherNames), fc.oneof(cap, fc.constant(-1)), { maxKeys: 1 }),
    ),
    n: fc.integer({ min: 1, max: 3 }),
    planCap: maybe(cap),
    contextLength: fc.integer({ min: 100, max: 200_000 }),
    maxOutputTokens: maybe(fc.integer({ min: 1, max: 100 })),
    lacks: fc.boolean(),
    stream: fc.boolean(),
  })
  .map(({ own, others, n, client, target, ...rest }) => ({
    ...rest,
    client,
    target,
    caps: { ...own, ...others },
    // Only chat completions have several answers.
    n: client === "chat/completions" && target === "chat/completions" ? n : 1,
  }));

/**
 * What goes to the upstream, and what is held. `undefined`: the target is none for the client.
 * @throws GatewayError 400 for caps that the client's protocol does not have.
 */
async function send(given: Case) {
  const { client, target, dialect, contextLength, maxOutputTokens, lacks, planCap } = given;
  const prompt = client === "responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
  const n = given.n > 1 ? { n: given.n } : {};
  const body = Buffer.from(
    JSON.stringify({ model: "acme/small", ...prompt, ...n, stream: given.stream, ...given.caps }),
  );
  const services = { maxBodyDepth: 64, maxBodyBytes: 1e6, responses: undefined, seal: ownSeal };
  const request = await operations[client].parse(body, services, { account: "a", header: () => undefined });
  const model: ModelTraits = {
    ...plainModel,
    contextLength,
    maxOutputTokens,
    dialects: dialect === undefined ? [] : [new ModelDialect(dialect)],
    missing: lacks ? { action: "drop", tools: true, reasoning: true, vision: true } : undefined,
  };
  const traits: TargetTraits = {
    upstreamModel: "up",
    operations: new Set([target]),
    price: { pricesTokens: true, units: [] },
    rules: MemberRules.none,
    dialect,
    secrets: undefined,
  };
  const demand = request.demand(model, planCap);
  const { promptTokens, addedCap, outputTokens: outputCap } = demand;
  const time = { admittedAt: 0, startedAt: 0, clock: { now: () => 0 } };
  const facts = { requestId: "req_1", callId: "req_1", promptTokens, addedCap, outputCap, ...time };
  const exchange = await request.exchangeWith(traits, model, facts);
  if (exchange === undefined) return undefined;
  const sent = JSON.parse(Buffer.from(exchange.body).toString()) as Record<string, unknown>;
  return { demand, sent, most: maxOutputTokens ?? contextLength };
}

function unlessRefused(error: unknown): undefined {
  if (!isGatewayError(error) || error.status !== 400) throw error;
}

it("whatever is asked of whom, no cap goes out above what is held, and without one all that a model can write is held", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(cases, async (given) => {
      const result = await send(given).catch(unlessRefused);
      if (result === undefined) return;
      const { demand, sent, most } = result;
      const caps = capNames.flatMap((name) => (typeof sent[name] === "number" ? [sent[name]] : []));
      const others = otherNames.flatMap((name) => (typeof sent[name] === "number" ? [sent[name]] : []));
      for (const each of [...caps, ...others]) {
        expect(each).toBeGreaterThan(0);
        expect(each * given.n).toBeLessThanOrEqual(demand.outputTokens);
      }
      if (caps.length === 0 || others.length > 0) expect(demand.outputTokens).toBe(given.n * most);
      expect(demand.outputTokens).toBeLessThanOrEqual(given.n * most);
      seen.add(`${given.client} to ${given.target}, ${caps.length === 0 ? "uncapped" : "capped"}`);
      const names = capNames.filter((name) => typeof given.caps[name] === "number");
      const isDropped = given.dialect?.dropped !== undefined;
      // A plan's cap reaches whoever is sent a request that names none.
      if (given.planCap !== undefined && names.length === 0 && !isDropped) {
        expect(caps).toEqual([Math.min(given.planCap, most)]);
        seen.add("the plan's");
      }
      if (given.planCap === undefined && names.length === 0 && given.target !== "messages") expect(caps).toEqual([]);
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 2000) },
  );
  // Else the property says less than it seems to.
  expect([...seen].sort()).toEqual([
    "chat/completions to chat/completions, capped",
    "chat/completions to chat/completions, uncapped",
    "chat/completions to messages, capped",
    "messages to chat/completions, capped",
    "messages to chat/completions, uncapped",
    "messages to messages, capped",
    "responses to chat/completions, capped",
    "responses to chat/completions, uncapped",
    "responses to messages, capped",
    "responses to responses, capped",
    "responses to responses, uncapped",
    "the plan's",
  ]);
});
