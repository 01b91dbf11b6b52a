import { beyondTarget } from "../../errors/refusal.js";
import type { GatewayResponse } from "../../http/message.js";
import { CostedExchange } from "../../protocols/shared/costed-exchange.js";
import { calledName } from "../../protocols/shared/exchange.js";
import type { TargetTraits } from "../../protocols/shared/operation.js";
import { headerSecrets } from "../../providers/headers.js";
import { TargetSearch } from "../../routing/target-search.js";
import { creditText } from "../admission/credit-text.js";
import { Attempt, type Relayed } from "../attempt.js";
import type { ModelCall } from "../model-call.js";
import { respondWhole } from "./respond-whole.js";
import { respondWithBytes, respondWithStream } from "./respond-with-stream.js";
import { send } from "./send.js";
import { brokenOff } from "./until-aborted.js";

/**
 * Tries the targets of an admitted call, until one has something for the client.
 * @throws GatewayError when none has, or {@link UpstreamError} `aborted`.
 */
export async function tryTargets(call: ModelCall): Promise<GatewayResponse> {
  const search = new TargetSearch(call.admission.model.route, [call.notice, call.client.signal], call.services.clock);
  for (;;) {
    const attempt = new Attempt(call, search.take() ?? (await search.wait()));
    let relayed: Relayed;
    try {
      relayed = await attempt.run(tryTarget);
    } catch (thrown) {
      search.failed(attempt.target, attempt.failed(thrown));
      continue;
    }
    return "whenReviewed" in relayed ? await relayed.whenReviewed() : relayed;
  }
}

/** Sends the request to one target, and relays its response. */
async function tryTarget(attempt: Attempt): Promise<Relayed> {
  const { call, target } = attempt;
  const { model, request, additions } = call.admission;
  const hidden = additions?.headers;
  const made = request.exchangeWith(hidden === undefined ? target : withHidden(target, hidden), model, attempt);
  const own = made instanceof Promise ? await made : made;
  if (attempt.notice.aborted) throw brokenOff();
  if (own === undefined) {
    throw beyondTarget(
      "model",
      `'${calledName(model)}' cannot be used here: its server does not offer this operation.`,
    );
  }
  const exchange = call.services.exposesCost
    ? new CostedExchange(own, (tokens) => creditText(call.settlement.costOf(tokens)))
    : own;
  const answer = await send(attempt, exchange);
  call.observer.attemptAnswered();
  if (request.wantsBytes === true) return await respondWithBytes(attempt, exchange, answer);
  return await (request.stream ? respondWithStream : respondWhole)(attempt, exchange, answer);
}

/** The target, of whose errors no client reads the values of these headers. */
function withHidden(target: TargetTraits, headers: Readonly<Record<string, string>>): TargetTraits {
  const { upstreamModel, operations, price, rules, dialect, secrets } = target;
  const all = () => {
    const { keys = [], texts = [], ...others } = secrets?.() ?? {};
    const hidden = headerSecrets(headers);
    return { ...others, keys: [...keys, ...hidden.keys], texts: [...texts, ...(hidden.texts ?? [])] };
  };
  return { upstreamModel, operations, price, rules, dialect, secrets: all };
}
