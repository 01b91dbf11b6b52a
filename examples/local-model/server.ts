import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createGateway, llamaCpp, memoryCreditLedger, memoryKeyStore, memoryPlanStore } from "infergate";
import { toNodeHandler } from "infergate/node";
import { startLlamaServer } from "./llama-server.js";

const { PORT = "3000", MODEL = fileURLToPath(new URL("model.gguf", import.meta.url)) } = process.env;

const llama = await startLlamaServer(MODEL);

const gateway = createGateway({
  models: [
    {
      id: "acme/local",
      type: "chat",
      contextLength: 4096,
      maxOutputTokens: 512,
      price: { input: 100, output: 1_000 },
      // There is no code for tools, thoughts or images in llama-server.ts.
      unsupported: "refuse",
      upstream: { provider: "llama", model: "local" },
    },
  ],
  keys: memoryKeyStore([{ key: "sk-demo", account: "acct_1", plan: "starter" }]),
  plans: memoryPlanStore({ starter: { models: ["acme/*"], credits: { session: 4, week: 20, month: 60 } } }),
  ledger: memoryCreditLedger(),
  providers: { llama: llamaCpp({ baseURL: llama.url }) },
  onRequestCompleted: ({ model, status, tokens, chargedMicro }) => {
    console.log(model, status, tokens.input, tokens.output, chargedMicro / 1_000_000);
  },
});

const server = createServer(toNodeHandler(gateway));
server.listen(Number(PORT), () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Base URL http://localhost:${port}/v1, key sk-demo, model acme/local. Ctrl-C ends it.`);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    server.close();
    await gateway.close();
    server.closeAllConnections();
    await llama.close();
  });
}
