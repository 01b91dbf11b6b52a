import type { PageRoute } from "../server/page-route.js";
import type { Reader } from "./account-identity.js";
import type { AccountServices } from "./account-services.js";
import { chargeRoute, requestsRoute, statementRoute } from "./book-routes.js";
import { keyChanges, listKeys } from "./key-routes.js";
import { meRoute } from "./me-route.js";
import { memberRoute } from "./member-route.js";
import { modelsRoute, tryRoute } from "./model-routes.js";
import { usageRoute } from "./usage-route.js";

/** What a page lets its readers do. */
export interface AccountPermissions {
  readonly readOnly: boolean;
  readonly tryModels: boolean;
}

/** The API of the account page. What it does not let its readers do has no routes. */
export function accountRoutes(
  services: AccountServices,
  { readOnly, tryModels }: AccountPermissions,
): readonly PageRoute<Reader>[] {
  return [
    meRoute(services, { change_keys: !readOnly, try_models: tryModels }),
    listKeys(services),
    usageRoute(services),
    requestsRoute(services),
    statementRoute(services),
    chargeRoute(services),
    modelsRoute(services),
    memberRoute(services),
    ...(readOnly ? [] : keyChanges(services)),
    ...(tryModels ? [tryRoute(services)] : []),
  ];
}
