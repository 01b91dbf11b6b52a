export { createGateway } from "./gateway/create-gateway.js";
export type { BodyFailure, Gateway, GatewayRequest, GatewayResponse } from "./gateway/gateway.js";
export { BodyError } from "./gateway/gateway.js";
export type { GatewayHealth, ModelHealth } from "./gateway/gateway-health.js";
export type { GatewayOptions, Model } from "./gateway/options.js";
export type { RoutingOptions, TargetOptions } from "./gateway/target-options.js";
export { hashKey } from "./keys/hash-key.js";
export type { ApiKey, Instant, KeyChange, KeyStore, StoredKey, WritableKeyStore } from "./keys/key-store.js";
export type { MemoryKey } from "./keys/memory-key-store.js";
export { memoryKeyStore } from "./keys/memory-key-store.js";
export type { Clock } from "./ledger/clock.js";
export type {
  Blocked,
  Bounds,
  CreditLedger,
  EntryTags,
  GrantRequest,
  HistoryPage,
  HistoryRequest,
  Lease,
  LedgerEntry,
  Micro,
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
export type { MemoryCreditLedgerOptions } from "./ledger/memory-credit-ledger.js";
export { memoryCreditLedger } from "./ledger/memory-credit-ledger.js";
export type { Price } from "./ledger/price.js";
export type { ErrorObject, GatewayErrorOptions } from "./openai/errors.js";
export { GatewayError } from "./openai/errors.js";
export type { TokenCounts } from "./openai/usage.js";
export type { BreakerOptions, BreakerState } from "./pipeline/breaker.js";
export type { CorsOptions } from "./pipeline/cors.js";
export type { Disconnect } from "./pipeline/drain.js";
export type { RequestCompleted, UpstreamAttempt } from "./pipeline/request-completed.js";
export type { EndReason, UsageSource } from "./pipeline/settle.js";
export type { TargetHealth } from "./pipeline/target-health.js";
export type { GatewayWarning } from "./pipeline/warning.js";
export { memoryPlanStore } from "./plans/memory-plan-store.js";
export type {
  DisconnectPolicy,
  DrainLimits,
  Plan,
  PlanCredits,
  PlanStore,
  WritablePlanStore,
} from "./plans/plan-store.js";
export type { OpenAICompatibleOptions } from "./providers/openai-compatible.js";
export { openAICompatible } from "./providers/openai-compatible.js";
export type { ApiKeySource } from "./providers/read-api-key.js";
export type {
  AbortNotice,
  UpstreamAnswer,
  UpstreamCall,
  UpstreamEndpoint,
  UpstreamFailure,
  UpstreamProvider,
} from "./providers/upstream-provider.js";
export { UpstreamError } from "./providers/upstream-provider.js";
