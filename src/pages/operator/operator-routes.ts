import type { PageRoute } from "../server/page-route.js";
import { accountChanges } from "./accounts/account-changes.js";
import { accountHistoryRoute, accountRoute, accountsRoute } from "./accounts/operator-account-routes.js";
import { operatorKeyChanges, operatorKeyRoute } from "./accounts/operator-key-routes.js";
import { healthRoute } from "./health-route.js";
import { liveRoute } from "./live-route.js";
import { auditRoute, oneRequestRoute, requestLogRoute } from "./log-routes.js";
import { modelChanges, modelCheckRoute, operatorModelsRoute } from "./operator-model-routes.js";
import type { Operator, OperatorServices } from "./operator-services.js";
import { operatorUsageRoute, overviewRoute, targetsRoute } from "./operator-usage-routes.js";
import { planChanges, planCheckRoute, plansRoute } from "./plan-routes.js";

/** The API of the operator's page. One that is read-only has no route with another method than GET. */
export function operatorRoutes(services: OperatorServices): readonly PageRoute<Operator>[] {
  const { live, readOnly } = services;
  return [
    healthRoute(services),
    overviewRoute(services),
    operatorUsageRoute(services),
    targetsRoute(services),
    accountsRoute(services),
    accountRoute(services),
    accountHistoryRoute(services),
    operatorKeyRoute(services),
    plansRoute(services),
    operatorModelsRoute(services),
    requestLogRoute(services),
    oneRequestRoute(services),
    auditRoute(services),
    ...(live === undefined ? [] : [liveRoute(live)]),
    ...(readOnly ? [] : changes(services)),
  ];
}

function changes(services: OperatorServices): readonly PageRoute<Operator>[] {
  return [
    ...accountChanges(services),
    ...operatorKeyChanges(services),
    planCheckRoute(services),
    ...planChanges(services),
    modelCheckRoute(services),
    ...modelChanges(services),
  ];
}
