import { AccountView } from "./account-view.js";
import { AccountsView } from "./accounts-view.js";
import { AuditView } from "./audit-view.js";
import { LedgerView } from "./ledger-view.js";
import { LiveView } from "./live-view.js";
import { ModelsView } from "./models-view.js";
import { PlansView } from "./plans-view.js";
import { RequestsView } from "./requests-view.js";
import { TargetsView } from "./targets-view.js";

/** The views that are loaded when one of them is opened. */
export const laterOperatorViews = {
  accounts: AccountsView,
  plans: PlansView,
  models: ModelsView,
  targets: TargetsView,
  requests: RequestsView,
  live: LiveView,
  ledger: LedgerView,
  audit: AuditView,
  account: AccountView,
};
