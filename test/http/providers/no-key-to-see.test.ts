import { inspect } from "node:util";
import { expect, it } from "vitest";
import { anthropic, azureOpenAI, createGateway, groq, openAI, openAICompatible } from "../../../src/index.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { smallModel } from "../../support/test-gateway.js";

const key = "sk-upstream-0123456789";
const baseURL = "http://127.0.0.1:9/v1";
const providers = {
  fake: openAICompatible({ baseURL, apiKey: key, headers: { "x-secret": key } }),
  keys: openAICompatible({ baseURL, apiKey: [key, `${key}-2`] }),
  openai: openAI({ apiKey: key }),
  anthropic: anthropic({ apiKey: key }),
  azure: azureOpenAI({ baseURL: "https://acme.openai.azure.com", apiKey: key }),
  groq: groq({ apiKey: key }),
};

/** Everything that a debugger, a logger or a careless console.log could show. */
const seen = (value: unknown) => inspect(value, { showHidden: true, depth: Number.POSITIVE_INFINITY, getters: true });

it.each(Object.entries(providers))("the provider %s shows its key to nobody who looks at it", (_name, provider) => {
  expect(seen(provider)).not.toContain(key);
  expect(JSON.stringify(provider)).not.toContain(key);
});

it("a gateway shows no key either", async () => {
  const gateway = createGateway({
    models: [smallModel],
    keys: memoryKeyStore([{ key: "sk-client-0123456789", id: "key_1", account: "acct_1", plan: "pro" }]),
    plans: memoryPlanStore({ pro: { models: ["*"], credits: { month: 1 } } }),
    ledger: memoryCreditLedger(),
    providers,
  });
  expect(seen(gateway)).not.toMatch(/sk-(upstream|client)-0123456789/);
  await gateway.close();
});
