import type { RequestCompleted } from "../../events/request-completed.js";
import type { LiveRequest, LiveRequests } from "../../gateway/observers/live-requests.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { toCredits, toSeconds } from "../server/units.js";
import { orNull } from "./operator-input.js";
import type { OperatorLive } from "./operator-page-api.js";
import type { Operator } from "./operator-services.js";
import { toOperatorRequest } from "./to-operator-request.js";

const shown = 100;

/** What this process is serving, and what has failed lately. */
export function liveRoute(live: LiveRequests): PageRoute<Operator> {
  return pageRoute<Operator>({
    method: "GET",
    path: "live",
    async answer() {
      const json: OperatorLive = {
        count: live.count,
        requests: live.list().slice(0, shown).map(toLive),
        failures: live.failures().slice(0, shown).map(toFailure),
      };
      return { json };
    },
  });
}

function toLive(request: LiveRequest): OperatorLive["requests"][number] {
  const { requestId, endpoint, startedAt, elapsedMs, state, account, keyId, model, stream, heldMicro, attempt } =
    request;
  return {
    ...{ id: requestId, endpoint, at: toSeconds(startedAt), elapsed_ms: Math.round(elapsedMs), state },
    ...{ account: orNull(account), key: orNull(keyId), model: orNull(model), stream: orNull(stream) },
    held: toCredits(orNull(heldMicro)),
    target: attempt === undefined ? null : `${attempt.provider}/${attempt.model}`,
    attempt: orNull(attempt?.number),
  };
}

function toFailure({ endpoint, ...event }: Readonly<RequestCompleted>): OperatorLive["failures"][number] {
  const last = event.attempts.at(-1);
  const target = last === undefined ? {} : { target: `${last.provider}/${last.model}` };
  const { count: _, ...request } = toOperatorRequest({
    ...{ ...event, lineId: "-", ...target },
    ...(endpoint !== undefined && { endpoint }),
  });
  return request;
}
