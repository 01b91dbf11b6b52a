import { chatChunks, eventStream } from "../../../src/testing.js";
import type { SampleHost } from "./sample-host.js";

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

/** What an operator has beside the account `acme`: other customers, some of them in trouble, changes, and streams of today. */
export async function runADay(host: SampleHost, secret: string): Promise<void> {
  const { gateway } = host;
  for (const [index, company] of companies.entries()) {
    const id = `cust_${String(1001 + index)}`;
    const plan = index % 3 === 0 ? "team" : "starter";
    await gateway.accounts.put({ id, plan, metadata: { company } }, { by: "signup" });
    if (index % 2 === 0)
      await gateway.accounts.topUp(id, { id: `invoice_${index}`, credits: 5 * (index + 1), by: "stripe" });
  }
  await gateway.accounts.suspend("cust_1003", {
    message: "Your invoice is not paid.",
    by: "root@acme.test",
    note: "two reminders",
  });
  await gateway.accounts.deduct("cust_1007", {
    id: "refund_1",
    credits: 40,
    by: "stripe",
    note: "chargeback of invoice_6",
  });
  await gateway.accounts.grant("acme", {
    id: "goodwill",
    window: "month",
    amountMicro: 10_000_000,
    by: "root@acme.test",
    note: "outage of Tuesday",
  });
  await gateway.models.put(
    {
      ...(await inForce(host, "qwen/qwen3-coder")),
      price: { input: 0.35, cachedInput: 0.035, output: 1.4 },
      aliases: ["qwen-latest"],
    },
    { by: "root@acme.test", note: "new list price" },
  );
  for (let index = 0; index < 12; index++) await stream(host, secret, `words of answer ${index}`);
}

async function inForce({ gateway }: SampleHost, id: string) {
  const { model } = (await gateway.models.get(id)) ?? {};
  if (model === undefined) throw new Error(`There is no model ${id}.`);
  return model;
}

async function stream({ gateway, upstream }: SampleHost, secret: string, text: string): Promise<void> {
  const usage = { prompt_tokens: 8000, completion_tokens: 900, total_tokens: 8900 };
  upstream.replyOnce(eventStream(chatChunks(text, { usage })));
  const response = await gateway.handler(
    new Request("http://gateway.test/ai/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify({
        model: "openai/gpt-5-mini",
        messages: [{ role: "user", content: "Hello!" }],
        stream: true,
      }),
    }),
  );
  await response.text();
}
