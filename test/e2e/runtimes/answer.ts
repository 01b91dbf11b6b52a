import { createGateway, memoryCreditLedger, memoryKeyStore, memoryPlanStore, openAICompatible } from "infergate";
import { toFetchHandler } from "infergate/fetch";

/** What a runtime's server is made of; as JSON, from its environment. */
export interface ServerConfig {
  readonly upstream: string;
  readonly busy: string;
  readonly models: Parameters<typeof createGateway>[0]["models"];
  readonly operations: NonNullable<Parameters<typeof openAICompatible>[0]["operations"]>;
  readonly plans: Parameters<typeof memoryPlanStore>[0];
  readonly maxUploadBytes: number;
}

/** Where the runtime's own reader of forms says what it finds. */
export const readFormPath = "/read-form";

/** The gateway, and the runtime's own reader of forms. */
export function toAnswer(config: string): (request: Request) => Promise<Response> {
  const { upstream, busy, models, operations, plans, maxUploadBytes }: ServerConfig = JSON.parse(config);
  const gateway = createGateway({
    basePath: "/api/ai",
    models,
    keys: memoryKeyStore([{ key: "sk-pro", account: "acct_pro", plan: "pro" }]),
    plans: memoryPlanStore(plans),
    ledger: memoryCreditLedger(),
    providers: {
      fake: openAICompatible({ baseURL: upstream, operations }),
      busy: openAICompatible({ baseURL: busy, operations }),
    },
    maxUploadBytes,
  });
  const handler = toFetchHandler(gateway);
  return async (request) => (new URL(request.url).pathname === readFormPath ? readForm(request) : handler(request));
}

async function readForm(request: Request): Promise<Response> {
  const form = await request.formData();
  const parts: unknown[] = [];
  for (const [name, value] of form.entries()) {
    if (typeof value === "string") parts.push({ name, payload: latin1(new TextEncoder().encode(value)) });
    else parts.push({ name, filename: value.name, payload: latin1(new Uint8Array(await value.arrayBuffer())) });
  }
  return Response.json(parts);
}

/** A character for each byte. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}
