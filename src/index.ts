export { AccountConflictError } from "./accounts/account-conflict-error.js";
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
} from "./accounts/account-store.js";
export type { AnswerGuard, GuardedAnswer, GuardedCall, GuardVerdict } from "./answer-guards/answer-guard.js";
export type { AuditAuthor } from "./books/audit/audit-author.js";
export type {
  AuditAction,
  AuditDetails,
  AuditEntry,
  AuditLimits,
  AuditPage,
  AuditQuery,
  AuditTrail,
} from "./books/audit/audit-trail.js";
export type { LoggedAttempt, LoggedRequest, LoggedTexts } from "./books/requests/logged-request.js";
export type {
  RequestCounts,
  RequestLog,
  RequestPage,
  RequestQuery,
  StatusFilter,
} from "./books/requests/request-log.js";
export type { RequestLogLimits } from "./books/requests/request-log-limits.js";
export type {
  Budget,
  BudgetName,
  BudgetPage,
  BudgetPageRequest,
  BudgetStatus,
  BudgetStore,
  KeptBudget,
  WritableBudgetStore,
} from "./budgets/budget-store.js";
export { type CacheOptions, cached } from "./cache/cached.js";
export type { ResponseCacheStore } from "./cache/response-cache-store.js";
export type { ErrorObject, GatewayErrorOptions } from "./errors/gateway-error.js";
export { GatewayError } from "./errors/gateway-error.js";
export type { GuardOutcome } from "./events/guard-outcome.js";
export type { LedgerOperationCompleted } from "./events/ledger-operation-completed.js";
export type { RemainingCredits, RequestCompleted, UpstreamAttempt } from "./events/request-completed.js";
export type { ThresholdReached } from "./events/threshold-reached.js";
export type { GatewayWarning } from "./events/warning.js";
export type { AccountBalance, AccountWindow } from "./gateway/admin/account-balance.js";
export type { AccountHolds, NewHold } from "./gateway/admin/account-holds.js";
export type { AccountPrepaid, PrepaidDeduction, PrepaidTopUp } from "./gateway/admin/account-prepaid.js";
export type { AccountRecords, ManagedAccountChange } from "./gateway/admin/account-records.js";
export type { AccountTerms } from "./gateway/admin/account-terms.js";
export type { CreditAmount } from "./gateway/admin/credit-amount.js";
export type { KeyBalance } from "./gateway/admin/key-balance.js";
export type { CreditGrant, HistoryRange, JournalRange, ManagedAccounts } from "./gateway/admin/managed-accounts.js";
export type { CreatedKey, ManagedKey, ManagedKeyChange, ManagedKeys, NewKey } from "./gateway/admin/managed-keys.js";
export type { ManagedPlans } from "./gateway/admin/managed-plans.js";
export type { CreditHold, HoldEnd } from "./gateway/admin/open-hold.js";
export type { BudgetBalance, CapBalance, RateBalance } from "./gateway/budgets/budget-balance.js";
export type { ManagedBudgets } from "./gateway/budgets/managed-budgets.js";
export type { CatalogChange } from "./gateway/catalog/catalog-change.js";
export type { DisabledModel, StorableModel } from "./gateway/catalog/stored-model-schema.js";
export { createGateway } from "./gateway/create-gateway.js";
export type { Gateway, HostContext, Mountable } from "./gateway/gateway.js";
export type { GatewayHealth, ModelHealth } from "./gateway/gateway-health.js";
export type { OwnRequest } from "./gateway/host-session/caller-of-request.js";
export type { Identified, Identify, Identity } from "./gateway/host-session/identity.js";
export type { InProcess, InProcessCaller } from "./gateway/in-process/in-process.js";
export type { LiveRequest, LiveRequests, LiveRequestsOptions } from "./gateway/observers/live-requests.js";
export { createLiveRequests } from "./gateway/observers/live-requests.js";
export type {
  AdmittedCall,
  AttemptStarted,
  ObservedRequest,
  Observer,
  RequestStarted,
  StartedGateway,
} from "./gateway/observers/observer.js";
export type {
  GatewayOptions,
  LedgerOptions,
  Model,
  RerankOptions,
  ThresholdOptions,
} from "./gateway/options.js";
export type { AccountListRequest, ListedAccount, ListedAccountPage } from "./gateway/records/listed-account.js";
export { KeyEndedError } from "./gateway/refusals/key-ended-error.js";
export { UnknownAccountError } from "./gateway/refusals/unknown-account-error.js";
export { UnknownKeyError } from "./gateway/refusals/unknown-key-error.js";
export { UnknownPlanError } from "./gateway/refusals/unknown-plan-error.js";
export { UnknownTermsError } from "./gateway/refusals/unknown-terms-error.js";
export type { ManagedRequests } from "./gateway/requests/managed-requests.js";
export type { KeepTexts, RedactedTexts, RequestLogOptions } from "./gateway/requests/request-log-options.js";
export type { RequestLogBacklog } from "./gateway/requests/request-log-writer.js";
export type { ManagedModels, ModelCheck } from "./gateway/stored-models/managed-models.js";
export type { ManagedModel, ModelDifference } from "./gateway/stored-models/model-state.js";
export type { RoutingOptions, TargetOptions } from "./gateway/target-options.js";
export type { UsagePeriod, UsageRecord } from "./gateway/usage/gateway-usage.js";
export type { UsageQuery } from "./gateway/usage/usage-query.js";
export type { UsageRow } from "./gateway/usage/usage-row.js";
export type { LedgerEnding, LedgerEvent } from "./guard/ledger-event.js";
export type { LedgerHealth } from "./guard/ledger-health.js";
export type { Admission, OnRequest, TextEdit, UpstreamAdditions } from "./hooks/admission.js";
export type { IncomingCall, PromptText } from "./hooks/incoming-call.js";
export type { CorsOptions } from "./http/cors.js";
export type { HostRequest } from "./http/host-request.js";
export type { RequestHead } from "./http/message.js";
export type { NodeRequestHead } from "./http/node-host-request.js";
export { hashKey } from "./keys/hash-key.js";
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
} from "./keys/key-store.js";
export type { Bounds } from "./ledger/bounds.js";
export type { BlockedCap, CapLimit, CapState, CapWindow, LeasedCap } from "./ledger/cap-limit.js";
export type { Clock } from "./ledger/clock.js";
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
export type { Funding } from "./ledger/funding.js";
export type { DeductRequest, PrepaidLot, PrepaidState, TopUpRequest } from "./ledger/prepaid-state.js";
export type { BlockedRate, RateKind, RateLimit, RateState, RateUse } from "./ledger/rate-limit.js";
export type { ShardedLedgerOptions } from "./ledger/sharding/sharded-ledger.js";
export { shardedLedger } from "./ledger/sharding/sharded-ledger.js";
export type {
  AccountStatement,
  PlanStatement,
  PrepaidStatement,
  StatementRequest,
} from "./ledger/statement/account-statement.js";
export type { UsageRequest, UsageSum, UsageTotal } from "./ledger/usage/usage-sum.js";
export type { PeriodTotal, TotalsFilter, TotalsRequest } from "./ledger/usage/usage-totals.js";
export type { MemoryAuditTrailOptions } from "./memory/books/memory-audit-trail.js";
export { memoryAuditTrail } from "./memory/books/memory-audit-trail.js";
export { memoryAccountStore } from "./memory/memory-account-store.js";
export { memoryBudgetStore } from "./memory/memory-budget-store.js";
export type { MemoryCreditLedgerOptions } from "./memory/memory-credit-ledger.js";
export { memoryCreditLedger } from "./memory/memory-credit-ledger.js";
export type { MemoryKey } from "./memory/memory-key-store.js";
export { memoryKeyStore } from "./memory/memory-key-store.js";
export { memoryModelStore } from "./memory/memory-model-store.js";
export { memoryPlanStore } from "./memory/memory-plan-store.js";
export type { MemoryRequestLogOptions } from "./memory/memory-request-log.js";
export { memoryRequestLog } from "./memory/memory-request-log.js";
export type { MemoryResponseStoreOptions } from "./memory/memory-response-store.js";
export { memoryResponseStore } from "./memory/memory-response-store.js";
export type { Micro } from "./metering/micro.js";
export type { Disconnect, EndReason, UsageSource } from "./metering/outcome.js";
export type { ImagePrice, Price, PriceStep, StepPrices, TierPrice } from "./metering/prices/price.js";
export type { ModelRates, Rates, RequestRate, TokenRate } from "./metering/rates.js";
export type { ReturnedTags, Tags } from "./metering/tags.js";
export type { TokenCounts } from "./metering/token-counts.js";
export type { Dialect, FailedRequest, UpstreamErrorAnswer } from "./model-api/dialect.js";
export type { MemberRule } from "./model-api/request/restricted-members.js";
export { ModelConflictError } from "./models/model-conflict-error.js";
export type {
  ModelData,
  ModelPutCondition,
  ModelRemoveCondition,
  ModelStore,
  StoredModel,
} from "./models/model-store.js";
export type { AnswerText } from "./operations/answers/answer-format.js";
export type { CallContent, ContentMessage, ContentPart } from "./operations/content/call-content.js";
export type { ImageTokens } from "./operations/images/token-rows.js";
export type { ModelType } from "./operations/model-type.js";
export type {
  DisconnectPolicy,
  DrainLimits,
  Plan,
  PlanCredits,
  PlanStore,
  WritablePlanStore,
} from "./plans/plan-store.js";
export { anthropic } from "./providers/anthropic.js";
export type { ApiKeySource, ApiKeys } from "./providers/api-keys/read-api-keys.js";
export type { AzureOpenAIOptions } from "./providers/azure-openai.js";
export { azureOpenAI } from "./providers/azure-openai.js";
export { deepSeek } from "./providers/deepseek.js";
export { groq } from "./providers/groq.js";
export { llamaCpp } from "./providers/llama-cpp.js";
export { mistral } from "./providers/mistral.js";
export { ollama } from "./providers/ollama.js";
export { openAI } from "./providers/openai.js";
export type { OpenAICompatibleOptions } from "./providers/openai-compatible.js";
export { openAICompatible } from "./providers/openai-compatible.js";
export { openRouter } from "./providers/openrouter.js";
export type { PresetOptions, VersionedPresetOptions } from "./providers/preset.js";
export { cohere } from "./providers/presets/cohere.js";
export { jina } from "./providers/presets/jina.js";
export { localAI } from "./providers/presets/local-ai.js";
export type {
  AbortNotice,
  UpstreamAnswer,
  UpstreamCall,
  UpstreamFailure,
  UpstreamOperation,
  UpstreamProvider,
} from "./providers/upstream-provider.js";
export { UpstreamError } from "./providers/upstream-provider.js";
export { vLLM } from "./providers/vllm.js";
export type { UpstreamSecrets } from "./redaction/upstream-secrets.js";
export type { ResponseLimits } from "./responses/response-limits.js";
export type { InputPage, KeptInput, KeptItem, KeptResponse, ResponseStore } from "./responses/response-store.js";
export type { BreakerOptions, BreakerState } from "./routing/breaker.js";
export type { TargetHealth } from "./routing/target-health.js";
export type { UsageReport, UsageReportPrepaid, UsageReportWindow } from "./server/usage-report.js";
export type { TokenBounds } from "./tokens/token-bounds.js";
export type { Tokenizer } from "./tokens/tokenizer.js";
