import { chatAnswer, wholeAnswer } from "../../../../src/testing.js";
import { daysAgo, type SampleGateway, sampleModels } from "./sample-gateway.js";

/** The keys of the sample, by what their owners call them. */
export type SampleKeys = Readonly<Record<"backend" | "laptop" | "notebook" | "ci" | "retired", SampleKey>>;

interface SampleKey {
  readonly id: string;
  readonly secret: string;
}

const days = 30;

/** Lets the account `acme` have a month behind it: keys, members with budgets, calls, refusals and a top-up. */
export async function liveAMonth(sample: SampleGateway): Promise<SampleKeys> {
  const { gateway } = sample;
  const keys = await daysAgo(sample, days, () => makeKeys(sample));
  await daysAgo(sample, 20, () => gateway.accounts.topUp("acme", { id: "invoice_1042", credits: 50 }));
  const random = randomNumbers(7);
  for (let age = days - 1; age >= 0; age--) {
    const isWeekend = [0, 6].includes(new Date(Date.now() - age * 86_400_000).getUTCDay());
    const count = isWeekend ? 2 : 6 + Math.floor(random() * 6);
    // Of the last day, all is some minutes ago.
    await daysAgo(sample, age + 0.01, async () => {
      for (let call = 0; call < count; call++) await callOnce(sample, keys, random);
    });
  }
  const { backend, laptop, notebook, ci } = keys;
  // The gateway itself writes it a minute later.
  await sample.keys.touch?.(
    [backend, laptop, notebook, ci].map(({ id }, index) => ({ id, at: Date.now() - (index * 7 + 4) * 60_000 })),
  );
  await gateway.keys.revoke(keys.retired.id);
  await daysAgo(sample, 0.008, () => refuse(sample, keys));
  return keys;
}

async function makeKeys({ gateway }: SampleGateway): Promise<SampleKeys> {
  const make = async (name: string, tags: Record<string, string>, more: object = {}) =>
    gateway.keys.create({ account: "acme", name, tags, ...more });
  await gateway.budgets.put("acme", { tag: "member", value: "ada", credits: { month: 20 } });
  await gateway.budgets.put("acme", { tag: "member", value: "bob", credits: { day: 2, month: 15 } });
  await gateway.budgets.put("acme", { tag: "member", value: "carla", credits: { month: 10 } });
  return {
    backend: await make("Production backend", { project: "search" }, { credits: { month: 60 } }),
    laptop: await make("Ada’s laptop", { member: "ada", project: "research" }),
    notebook: await make("Notebook", { member: "bob", project: "research" }, { models: ["openai/*", "qwen/*"] }),
    ci: await make("CI", { project: "search" }, { models: ["openai/gpt-5-mini"], credits: { day: 1 } }),
    retired: await make("Old prototype", {}),
  };
}

async function callOnce(sample: SampleGateway, keys: SampleKeys, random: () => number): Promise<void> {
  const names = ["backend", "backend", "laptop", "laptop", "notebook", "ci"] as const;
  const name = names[Math.floor(random() * names.length)] ?? "backend";
  const ids = sampleModels.map(({ id }) => id);
  const model =
    name === "ci" ? ids[1] : name === "notebook" ? ids[random() < 0.5 ? 1 : 3] : ids[Math.floor(random() ** 1.6 * 4)];
  const usage = tokens(20_000 + Math.floor(random() * 250_000), 1500 + Math.floor(random() * 15_000));
  sample.upstream.replyOnce(wholeAnswer(chatAnswer({ usage })));
  await callChat(sample, keys[name].secret, model ?? "");
}

/** What is not served: a model that there is not, one that the key may not call, and a key that is revoked. */
async function refuse(sample: SampleGateway, keys: SampleKeys): Promise<void> {
  await callChat(sample, keys.laptop.secret, "openai/gpt-4");
  await callChat(sample, keys.ci.secret, "anthropic/claude-sonnet-4.5");
  await callChat(sample, keys.notebook.secret, "openai/gpt-5-mini", { messages: [] });
}

/** A call of a model, to its end. @param more - members of the request. */
export async function callChat(
  { gateway }: SampleGateway,
  secret: string,
  model: string,
  more: object = {},
): Promise<void> {
  const response = await gateway.handler(
    new Request("http://gateway.test/ai/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify({ model, messages: [{ role: "user", content: "Hello!" }], max_tokens: 4000, ...more }),
    }),
  );
  await response.text();
}

function tokens(prompt: number, completion: number) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

/** The same ones each time (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
