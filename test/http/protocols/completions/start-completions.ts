import { onTestFinished } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import { baseModel, completionServer, textCompletion } from "../../../support/completion-samples.js";
import { embeddingModel, smallModel, startTestGateway } from "../../../support/test-gateway.js";

/**
 * A gateway in front of a server that speaks completions. It closes with the test.
 * @param optionsFor - further options, which may name the server's address.
 */
export async function startCompletions(
  optionsFor: Partial<GatewayOptions> | ((url: string) => Partial<GatewayOptions>) = {},
) {
  const server = await startFakeUpstream();
  onTestFinished(() => server.close());
  server.reply(wholeAnswer(textCompletion()));
  const ledger = memoryCreditLedger();
  const test = await startTestGateway({
    ledger,
    models: [baseModel, smallModel, embeddingModel],
    providers: { fake: completionServer(server.url) },
    ...(typeof optionsFor === "function" ? optionsFor(server.url) : optionsFor),
  });
  onTestFinished(() => test.close());
  return {
    ...test,
    server,
    /** What the account's calls hold, in micro-credits. */
    held: async () => (await ledger.balance("acct_pro", everything)).windows.session.heldMicro,
    /** Sends a request for a completion; a text is sent byte for byte. */
    complete: (body: Record<string, unknown> | string = {}, headers: Record<string, string> = {}) =>
      test.gateway.handler(
        new Request("http://gateway.test/v1/completions", {
          method: "POST",
          headers: { "content-type": "application/json", authorization: "Bearer sk-pro", ...headers },
          body: typeof body === "string" ? body : JSON.stringify({ model: "acme/base", prompt: "Say hello.", ...body }),
        }),
      ),
  };
}

const credits = { session: null, week: null, month: null };
const everything = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
export const jsonOf = async (response: Response) => (await response.json()) as any;
