import type { Warn } from "../../events/warning.js";
import { refusedUnknownAccount } from "../../gateway/refusals/refused-unknown-account.js";
import { UnknownTermsError } from "../../gateway/refusals/unknown-terms-error.js";
import type { PageRoute } from "../server/page-route.js";
import type { Reader } from "./account-identity.js";

/** A reader whose account has no plan gets what its calls would get: only the host can mend that, and is told how. */
export function refuseWithoutPlan(route: PageRoute<Reader>, warnOnce: Warn): PageRoute<Reader> {
  return {
    ...route,
    async answer(call) {
      try {
        return await route.answer(call);
      } catch (thrown) {
        if (!(thrown instanceof UnknownTermsError)) throw thrown;
        throw refusedUnknownAccount(thrown, call.identity.account, warnOnce);
      }
    },
  };
}
