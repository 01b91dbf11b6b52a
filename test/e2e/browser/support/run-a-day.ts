import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { daysAgo } from "./sample-gateway.js";
import type { SampleHost } from "./sample-host.js";
import { callChat, randomNumbers } from "./sample-month.js";

const companies = [
  "Aurora Labs",
  "Borealis",
  "Cobalt & Sons",
  "Delphi Health",
  "Evergreen",
  "Fathom",
  "Gallium",
  "Helios",
];
const models = ["openai/gpt-5-mini", "openai/gpt-5-mini", "anthropic/claude-sonnet-4.5", "qwen/qwen3-coder"];
const hours = 9;
const hour = 1 / 24;

/** What an operator has beside the account `acme`: customers, some of them in trouble, changes, and calls of the last hours. */
export async function runADay(host: SampleHost, secret: string): Promise<void> {
  const secrets = [secret, secret, secret, ...(await daysAgo(host, 12, () => makeCustomers(host)))];
  await daysAgo(host, 3, () => change(host));
  const random = randomNumbers(11);
  for (let age = hours; age >= 0; age--) {
    // Of the last hour, all is some minutes ago.
    await daysAgo(host, (age + 0.1) * hour, async () => {
      const count = 5 + Math.floor(random() * 6) + (hours - age);
      for (let call = 0; call < count; call++) await callOnce(host, secrets, random);
    });
  }
}

/** @returns their keys. */
async function makeCustomers({ gateway }: SampleHost): Promise<readonly string[]> {
  const secrets: string[] = [];
  for (const [index, company] of companies.entries()) {
    const id = `cust_${String(1001 + index)}`;
    const plan = index % 3 === 0 ? "team" : "starter";
    await gateway.accounts.put({ id, plan, metadata: { company } }, { by: "signup" });
    if (index % 2 === 0) {
      await gateway.accounts.topUp(id, { id: `invoice_${index}`, credits: 5 * (index + 1), by: "stripe" });
    }
    secrets.push((await gateway.keys.create({ account: id, name: "Backend" }, { by: id })).secret);
  }
  return secrets;
}

async function change({ gateway }: SampleHost): Promise<void> {
  const by = "root@acme.test";
  await gateway.accounts.suspend("cust_1003", { message: "Your invoice is not paid.", by, note: "two reminders" });
  const refund = { id: "refund_1", credits: 40, by: "stripe", note: "chargeback of invoice_6" };
  await gateway.accounts.deduct("cust_1007", refund);
  const gift = { id: "goodwill", window: "month", amountMicro: 10_000_000, by, note: "outage of Tuesday" } as const;
  await gateway.accounts.grant("acme", gift);
  const { model } = (await gateway.models.get("qwen/qwen3-coder")) ?? {};
  if (model === undefined) throw new Error("There is no such model.");
  const price = { input: 0.35, cachedInput: 0.035, output: 1.4 };
  await gateway.models.put({ ...model, price, aliases: ["qwen-latest"] }, { by, note: "new list price" });
}

/** Most are streams. Some ask for what there is not, or may not, and some are refused by the model server. */
async function callOnce(host: SampleHost, secrets: readonly string[], random: () => number): Promise<void> {
  const secret = secrets[Math.floor(random() * secrets.length)] ?? "";
  const model = models[Math.floor(random() * models.length)] ?? "";
  const usage = countsOf(6000 + Math.floor(random() * 40_000), 300 + Math.floor(random() * 2500));
  const fate = random();
  const isStream = fate > 0.3;
  // A call that is refused leaves no answer for the next one.
  if (fate < 0.04) host.upstream.reply(wholeAnswer({ error: { message: "No." } }, { status: 400 }));
  else if (isStream) host.upstream.reply(eventStream(chatChunks("some words of an answer", { usage })));
  else host.upstream.reply(wholeAnswer(chatAnswer({ usage })));
  await callChat(host, secret, fate > 0.95 ? "openai/gpt-4" : model, isStream ? { stream: true } : {});
}

function countsOf(prompt: number, completion: number) {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}
