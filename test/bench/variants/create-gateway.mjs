import { benchKey, model, upstreamModel } from "../parts/bodies.mjs";
import { importEntry } from "./library.mjs";

const { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAICompatible } =
  await importEntry("index");

const plenty = 1_000_000_000;

/**
 * Everything on: keys, plans with all three windows limited, the ledger, validation and usage.
 * @param upstream - `accounts` is how many there are, each with a key.
 */
export function createBenchGateway({ upstreamOrigin, accounts }, ledger = memoryCreditLedger()) {
  return createGateway({
    models: [
      {
        id: model,
        type: "chat",
        contextLength: 1_000_000,
        maxOutputTokens: 16_384,
        price: { input: 0.15, cachedInput: 0.075, output: 0.6 },
        upstream: { provider: "upstream", model: upstreamModel },
      },
    ],
    keys: memoryKeyStore([
      ...Array.from({ length: accounts }, (_, number) => ({
        key: benchKey(number),
        account: `account_${number}`,
        plan: "large",
      })),
      { key: "sk-spent-0123456789abcdef", account: "account_spent", plan: "small" },
    ]),
    plans: memoryPlanStore({
      large: { models: ["bench/*"], credits: { session: plenty, week: plenty, month: plenty } },
      // Used up by the first answer.
      small: { models: ["bench/*"], credits: { session: 0.00001, week: plenty, month: plenty } },
    }),
    ledger,
    providers: { upstream: openAICompatible({ baseURL: `${upstreamOrigin}/v1`, apiKey: "sk-upstream" }) },
    onWarning: ({ code, message }) => process.stderr.write(`${code}: ${message}\n`),
  });
}
