import { type PageRoute, pageRoute } from "../server/page-route.js";
import type { Reader } from "./account-identity.js";
import { type KeyRouteServices, keyChanges, listKeys } from "./key-routes.js";
import { readerTerms } from "./reader-terms.js";

/** The API of the account page. A page that only shows has no routes that change anything. */
export function accountRoutes(services: KeyRouteServices, isReadOnly: boolean): readonly PageRoute<Reader>[] {
  const { gateway, clock } = services;
  const me = pageRoute<Reader>({
    method: "GET",
    path: "me",
    async answer({ identity }) {
      const { account, role, name } = identity;
      const { plan } = await gateway.accounts.balance(account, await readerTerms(gateway, identity));
      return { json: { account, name, role, plan, now: clock.now() } };
    },
  });
  return [me, listKeys(services), ...(isReadOnly ? [] : keyChanges(services))];
}
