export type {
  AuditAction,
  AuditDetails,
  AuditEntry,
  AuditLimits,
  AuditPage,
  AuditQuery,
  AuditTrail,
} from "./audit/audit-trail.js";
export type { AuditAuthor } from "./audit/checked-audit-trail.js";
export { type CacheOptions, cached } from "./cache/cached.js";
export type { ResponseCacheStore } from "./cache/response-cache-store.js";
export type { ErrorObject, GatewayErrorOptions } from "./errors/gateway-error.js";
export { GatewayError } from "./errors/gateway-error.js";
export type { RemainingCredits, RequestCompleted, UpstreamAttempt } from "./events/request-completed.js";
export type { GuardOutcome, LedgerOperationCompleted } from "./events/request-observer.js";
export type { GatewayWarning } from "./events/warning.js";
export type { AccountHolds, CreditHold, HoldEnd, NewHold } from "./gateway/admin/account-holds.js";
export type { AccountPrepaid, PrepaidDeduction, PrepaidTopUp } from "./gateway/admin/account-prepaid.js";
export type { AccountRecords, ManagedAccountChange } from "./gateway/admin/account-records.js";
export type { AccountTerms } from "./gateway/admin/account-terms.js";
export type {
  AccountBalance,
  AccountWindow,
  BudgetBalance,
  CapBalance,
  KeyBalance,
  RateBalance,
} from "./gateway/admin/balance.js";
export type { CreditAmount } from "./gateway/admin/credit-amount.js";
export {
  KeyEndedError,
  UnknownAccountError,
  UnknownKeyError,
  UnknownPlanError,
  UnknownTermsError,
} from "./gateway/admin/errors.js";
export type { AccountListRequest, ListedAccount, ListedAccountPage } from "./gateway/admin/listed-account.js";
export type { CreditGrant, HistoryRange, JournalRange, ManagedAccounts } from "./gateway/admin/managed-accounts.js";
export type { ManagedBudgets } from "./gateway/admin/managed-budgets.js";
export type { CreatedKey, ManagedKey, ManagedKeyChange, ManagedKeys, NewKey } from "./gateway/admin/managed-keys.js";
export type { ManagedPlans } from "./gateway/admin/managed-plans.js";
export { createGateway } from "./gateway/create-gateway.js";
export type { Gateway, HostContext, Mountable } from "./gateway/gateway.js";
export type { GatewayHealth, ModelHealth } from "./gateway/gateway-health.js";
export type { OwnRequest } from "./gateway/identity/identified-callers.js";
export type { Identified, Identify, Identity } from "./gateway/identity/identity.js";
export type { InProcess, InProcessCaller } from "./gateway/in-process/in-process.js";
export type { CatalogChange } from "./gateway/models/live-catalog.js";
export type { ManagedModel, ManagedModels, ModelCheck, ModelDifference } from "./gateway/models/managed-models.js";
export type { Model, RerankOptions } from "./gateway/models/model.js";
export type { DisabledModel, StorableModel } from "./gateway/models/stored-model.js";
export type { RoutingOptions, TargetOptions } from "./gateway/models/target-options.js";
export type {
  AdmittedCall,
  AttemptStarted,
  ObservedRequest,
  Observer,
  RequestStarted,
  StartedGateway,
} from "./gateway/observers/observer.js";
export type { GatewayOptions, LedgerOptions, ThresholdOptions } from "./gateway/options.js";
export type { ManagedRequests } from "./gateway/request-log/managed-requests.js";
export type { KeepTexts, RedactedTexts, RequestLogOptions } from "./gateway/request-log/request-log-options.js";
export type { RequestLogBacklog } from "./gateway/request-log/request-log-writer.js";
export type { ThresholdReached } from "./gateway/thresholds.js";
export type { UsageRow } from "./gateway/usage/account-journal.js";
export type { UsagePeriod, UsageRecord } from "./gateway/usage/gateway-usage.js";
export type { UsageQuery } from "./gateway/usage/usage-query.js";
export type { Admission, IncomingCall, OnRequest, PromptText, TextEdit, UpstreamAdditions } from "./hooks/admission.js";
export type { Refusal, RefusalMessages } from "./hooks/refusal-messages.js";
export type { GuardedCall, GuardedResponse, GuardVerdict, ResponseGuard } from "./hooks/response-guard.js";
export type { HostRequest, NodeRequestHead } from "./http/host-request.js";
export type { RequestHead } from "./http/message.js";
export type { CorsOptions } from "./http/origin.js";
export type { Clock } from "./ledger/calendar.js";
export type {
  AccountCredits,
  AdmittedReservation,
  Balance,
  Blocked,
  CreditLedger,
  DeniedReservation,
  EntryTags,
  GrantRequest,
  HistoryPage,
  HistoryRequest,
  Lease,
  LedgerEntry,
  RenewRequest,
  RenewStatus,
  ReserveRequest,
  ReserveResult,
  Settlement,
  SettleResult,
  SettleStatus,
  WindowLimits,
  WindowName,
  WindowState,
  WindowStates,
} from "./ledger/credit-ledger.js";
export {
  LedgerClockError,
  LedgerConflictError,
  LedgerInputError,
  LedgerUnavailableError,
} from "./ledger/credit-ledger.js";
export type { LedgerEnding, LedgerEvent, LedgerHealth } from "./ledger/guard/ledger-event.js";
export type {
  BlockedCap,
  BlockedRate,
  Bounds,
  CapLimit,
  CapState,
  CapWindow,
  DeductRequest,
  LeasedCap,
  PrepaidLot,
  PrepaidState,
  RateKind,
  RateLimit,
  RateState,
  RateUse,
  TopUpRequest,
} from "./ledger/limits.js";
export type { ShardedLedgerOptions } from "./ledger/sharded-ledger.js";
export { shardedLedger } from "./ledger/sharded-ledger.js";
export type {
  AccountStatement,
  PeriodTotal,
  PlanStatement,
  PrepaidStatement,
  StatementRequest,
  TotalsFilter,
  TotalsRequest,
  UsageRequest,
  UsageSum,
  UsageTotal,
} from "./ledger/usage/usage-request.js";
export type { Funding } from "./ledger/window-states.js";
export type { LiveRequest, LiveRequests, LiveRequestsOptions } from "./observe/live-requests.js";
export { createLiveRequests } from "./observe/live-requests.js";
export type { Disconnect, EndReason, UsageSource } from "./prices/charge.js";
export type { Micro } from "./prices/micro.js";
export type { ImagePrice, Price, PriceStep, StepPrices, TierPrice } from "./prices/price.js";
export type { ModelRates, Rates, RequestRate, TokenRate } from "./prices/rates.js";
export type { ReturnedTags, Tags } from "./prices/tags.js";
export type { TokenCounts } from "./prices/usage-counts.js";
export type { ImageTokens } from "./protocols/images/image-usage.js";
export type { CallContent, ContentMessage, ContentPart } from "./protocols/shared/call-content.js";
export type { Dialect, FailedRequest, MemberRule, UpstreamErrorResponse } from "./protocols/shared/dialect.js";
export type { ModelType } from "./protocols/shared/model-type.js";
export type { ResponseText } from "./protocols/shared/response-format.js";
export type { ApiKeySource, ApiKeys } from "./providers/api-keys.js";
export type { AzureOpenAIOptions } from "./providers/azure-openai.js";
export { azureOpenAI } from "./providers/azure-openai.js";
export { llamaCpp, localAI, ollama, vLLM } from "./providers/local-presets.js";
export type { OpenAICompatibleOptions } from "./providers/openai-compatible.js";
export { openAICompatible } from "./providers/openai-compatible.js";
export type { PresetOptions, VersionedPresetOptions } from "./providers/preset.js";
export { anthropic, cohere, deepSeek, groq, jina, mistral, openAI, openRouter } from "./providers/presets.js";
export type {
  AbortNotice,
  OwnKeyCall,
  OwnKeySource,
  UpstreamCall,
  UpstreamFailure,
  UpstreamOperation,
  UpstreamProvider,
  UpstreamResponse,
} from "./providers/upstream-provider.js";
export { UpstreamError } from "./providers/upstream-provider.js";
export type {
  AccountChange,
  AccountMetadata,
  AccountPage,
  AccountPageRequest,
  AccountPutCondition,
  AccountRecord,
  AccountStatus,
  AccountStore,
  AccountUpdateCondition,
  KeptAccount,
  StoredAccount,
  WritableAccountStore,
} from "./records/accounts/account-store.js";
export { AccountConflictError } from "./records/accounts/account-store.js";
export type {
  Budget,
  BudgetName,
  BudgetPage,
  BudgetPageRequest,
  BudgetStatus,
  BudgetStore,
  KeptBudget,
  WritableBudgetStore,
} from "./records/budgets/budget-store.js";
export type {
  ApiKey,
  Instant,
  KeptKey,
  KeyChange,
  KeyCredits,
  KeyMetadata,
  KeyStore,
  KeyUse,
  StoredKey,
  WritableKeyStore,
} from "./records/keys/key-store.js";
export { hashKey } from "./records/keys/managed-key.js";
export type {
  ModelData,
  ModelPutCondition,
  ModelRemoveCondition,
  ModelStore,
  StoredModel,
} from "./records/models/model-store.js";
export { ModelConflictError } from "./records/models/model-store.js";
export type {
  DisconnectPolicy,
  DrainLimits,
  Plan,
  PlanCredits,
  PlanStore,
  WritablePlanStore,
} from "./records/plans/plan-store.js";
export type { UpstreamSecrets } from "./redaction/upstream-secrets.js";
export type {
  LoggedAttempt,
  LoggedRequest,
  LoggedTexts,
  RequestCounts,
  RequestLog,
  RequestLogLimits,
  RequestPage,
  RequestQuery,
  StatusFilter,
} from "./request-log/request-log.js";
export type {
  InputPage,
  KeptInput,
  KeptItem,
  KeptResponse,
  ResponseLimits,
  ResponseStore,
} from "./responses/response-store.js";
export type { BreakerOptions, BreakerState } from "./routing/breaker.js";
export type { TargetHealth } from "./routing/target.js";
export type { UsageReport, UsageReportPrepaid, UsageReportWindow } from "./server/usage-report.js";
export type { MemoryAuditTrailOptions } from "./stores/memory/memory-audit-trail.js";
export { memoryAuditTrail } from "./stores/memory/memory-audit-trail.js";
export type { MemoryCreditLedgerOptions } from "./stores/memory/memory-ledger.js";
export { memoryCreditLedger } from "./stores/memory/memory-ledger.js";
export type { MemoryRequestLogOptions } from "./stores/memory/memory-request-log.js";
export { memoryRequestLog } from "./stores/memory/memory-request-log.js";
export type { MemoryResponseStoreOptions } from "./stores/memory/memory-response-store.js";
export { memoryResponseStore } from "./stores/memory/memory-response-store.js";
export type { MemoryKey } from "./stores/memory/memory-stores.js";
export {
  memoryAccountStore,
  memoryBudgetStore,
  memoryKeyStore,
  memoryModelStore,
  memoryPlanStore,
} from "./stores/memory/memory-stores.js";
export type { TokenBounds, Tokenizer } from "./tokens/tokenizer.js";
