import { beyondTarget } from "../../errors/refusal.js";
import type { GatewayResponse } from "../../http/message.js";
import { CostedExchange } from "../../protocols/shared/costed-exchange.js";
import { calledName } from "../../protocols/shared/exchange.js";
import type { TargetTraits } from "../../protocols/shared/operation.js";
import { type UpstreamSecrets, withSecrets } from "../../redaction/upstream-secrets.js";
import { TargetSearch } from "../../routing/target-search.js";
import { creditText } from "../admission/credit-headers.js";
import { Attempt } from "../attempt.js";
import type { ModelCall } from "../model-call.js";
import { respondWhole } from "./respond-whole.js";
import { respondWithBytes, respondWithStream } from "./respond-with-stream.js";
import { send } from "./send.js";
import { brokenOff } from "./until-aborted.js";

/**
 * Sends an admitted call to one target after the other, until one has something for the client, and relays its response.
 * @throws GatewayError when none has, or {@link UpstreamError} `aborted`.
 */
export async function tryTargets(call: ModelCall): Promise<GatewayResponse> {
  const { admission, services, observer } = call;
  const { model, request } = admission;
  const search = new TargetSearch(model.route, [call.notice, call.client.signal], services.clock, admission.choice);
  for (;;) {
    const attempt = new Attempt(call, search.take() ?? (await search.wait()));
    const { hidden } = attempt;
    const target = hidden === undefined ? attempt.target : withHidden(attempt.target, hidden);
    try {
      const made = request.exchangeWith(target, model, attempt);
      const own = made instanceof Promise ? await made : made;
      if (attempt.notice.aborted) throw brokenOff();
      if (own === undefined) {
        const problem = `'${calledName(model)}' cannot be used here: its server does not offer this operation.`;
        throw beyondTarget("model", problem);
      }
      const exchange = services.exposesCost
        ? new CostedExchange(own, (tokens) => creditText(call.settlement.costOf(tokens)))
        : own;
      const answer = await send(attempt, exchange);
      observer.attemptAnswered();
      if (request.wantsBytes === true) return await respondWithBytes(attempt, exchange, answer);
      return await (request.stream ? respondWithStream : respondWhole)(attempt, exchange, answer);
    } catch (thrown) {
      if (attempt.isCommitted) throw thrown;
      search.failed(attempt.target, attempt.failed(thrown));
    }
  }
}

/** The target, of whose errors no client reads these either. */
function withHidden(target: TargetTraits, hidden: UpstreamSecrets): TargetTraits {
  const { upstreamModel, operations, price, rules, dialect, secrets } = target;
  const all = () => withSecrets(secrets?.(), hidden);
  return { upstreamModel, operations, price, rules, dialect, secrets: all };
}
