import { responses } from "../../../../src/protocols/responses/responses.js";
import { MemberRules } from "../../../../src/protocols/shared/member-rules.js";
import type { Exchange, ModelTraits } from "../../../../src/protocols/shared/operation.js";
import { resolveTokenBounds } from "../../../../src/tokens/tokenizer.js";
import { ownSeal } from "../../own-seal.js";
import type { SampleServer } from "./response-samples.js";

export const plainModel: ModelTraits = {
  id: "acme/small",
  contextLength: 1_000_000,
  maxOutputTokens: 1000,
  enforcesContext: true,
  tokenizer: undefined,
  tokenBounds: resolveTokenBounds(undefined),
  missing: undefined,
  reasons: true,
  translatesToMessages: true,
  rules: [],
  dialects: [],
};

const services = { maxBodyDepth: 64, maxBodyBytes: 1e6, responses: undefined, seal: ownSeal };
const facts = {
  requestId: "req_1",
  callId: "req_1",
  promptTokens: 7,
  outputCap: 1000,
  admittedAt: 0,
  startedAt: 0,
  clock: { now: () => 0 },
};

/** A request that was read, checked, and made ready for a server of that kind: all of it that needs no connection. */
export async function exchangeOf(
  { operations }: Pick<SampleServer, "operations">,
  body = '{"model":"acme/small","input":"Hi","tools":[{"type":"function","name":"get"}]}',
): Promise<Exchange> {
  const request = await responses.parse(Buffer.from(body), services, { account: "a", header: () => undefined });
  request.demand(plainModel, 100);
  const target = {
    upstreamModel: "up",
    operations: new Set(operations),
    price: { pricesTokens: true, units: [] },
    rules: MemberRules.none,
    dialect: undefined,
    secrets: undefined,
  };
  const exchange = request.exchangeWith(target, plainModel, facts);
  if (exchange === undefined) throw new Error("There is no way to this server.");
  return exchange;
}
