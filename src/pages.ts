export type { Mountable } from "./gateway/gateway.js";
export type { HostRequest } from "./http/host-request.js";
export type {
  AccountBill,
  AccountKey,
  AccountKeyCredits,
  AccountKeyInput,
  AccountList,
  AccountMe,
  AccountMember,
  AccountMeter,
  AccountModel,
  AccountPageApi,
  AccountPricePart,
  AccountRequest,
  AccountTrial,
  AccountUsage,
  NewAccountKey,
} from "./pages/account/account-page-api.js";
export type { AccountTexts } from "./pages/account/account-texts.js";
export type { AccountPageOptions } from "./pages/account/create-account-page.js";
export { createAccountPage } from "./pages/account/create-account-page.js";
export type { AccountIdentity } from "./pages/account/reader.js";
export type { OperatorPageOptions } from "./pages/operator/create-operator-page.js";
export { createOperatorPage } from "./pages/operator/create-operator-page.js";
export type {
  FirstOutput,
  OperatorAccount,
  OperatorAccountRecord,
  OperatorAuditEntry,
  OperatorBalance,
  OperatorCheck,
  OperatorCredits,
  OperatorEntry,
  OperatorGrant,
  OperatorHealth,
  OperatorKey,
  OperatorLedger,
  OperatorList,
  OperatorListedAccount,
  OperatorLive,
  OperatorModel,
  OperatorModelData,
  OperatorModelTarget,
  OperatorOverview,
  OperatorPageApi,
  OperatorPlan,
  OperatorPlanData,
  OperatorRequest,
  OperatorTarget,
  OperatorTargets,
  OperatorUsage,
  OperatorWindow,
} from "./pages/operator/operator-page-api.js";
export type { OperatorIdentity } from "./pages/operator/operator-services.js";
export type { KeyState } from "./pages/server/key-state.js";
export type { PageLogo, PageOptions } from "./pages/server/page-options.js";
export type { PageTheme } from "./pages/server/page-theme.js";
