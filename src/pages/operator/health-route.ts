import type { GatewayHealth } from "../../gateway/gateway-health.js";
import type { LedgerHealth } from "../../guard/ledger-health.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { toSeconds } from "../server/units.js";
import { orNull } from "./operator-input.js";
import type { OperatorHealth, OperatorLedger, OperatorTarget } from "./operator-page-api.js";
import type { Operator, OperatorServices } from "./operator-services.js";

/** Who reads the page, and how this process is. It asks no store. */
export function healthRoute({ gateway, clock, live, readOnly }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator>({
    method: "GET",
    path: "health",
    async answer({ identity: { operator } }) {
      const { models, ledgers, requestLog } = gateway.health();
      const health: OperatorHealth = {
        ...{ operator, read_only: readOnly, live: live !== undefined, now: toSeconds(clock.now()) },
        models: Object.entries(models).map(([id, { available, queued }]) => ({ id, available, queued })),
        targets: targetsOf(models),
        ledgers: ledgers.map(toLedger),
        request_log: orNull(requestLog),
        audit_lost: gateway.audit.lost,
      };
      return { json: health };
    },
  });
}

function targetsOf(models: GatewayHealth["models"]): readonly OperatorTarget[] {
  return Object.entries(models).flatMap(([model, { targets }]) =>
    targets.map(({ provider, model: upstream, state, active, answered, failed, failureRate, availableAt }) => ({
      ...{ model, provider, upstream, state, active, answered, failed },
      failure_rate: orNull(failureRate),
      available_at: toSeconds(orNull(availableAt)),
    })),
  );
}

function toLedger({ shard, downSince, outages, lastOutage, kept, keptSince, lost }: LedgerHealth): OperatorLedger {
  return {
    ...{ shard: orNull(shard), down_since: toSeconds(orNull(downSince)), outages },
    last_outage: lastOutage === undefined ? null : { from: toSeconds(lastOutage.from), to: toSeconds(lastOutage.to) },
    ...{ kept, kept_since: toSeconds(orNull(keptSince)), lost },
  };
}
