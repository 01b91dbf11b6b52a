export type { AccountTerms } from "./gateway/account-terms.js";
export { UnknownTermsError } from "./gateway/account-terms.js";
export { createGateway } from "./gateway/create-gateway.js";
export type { BodyFailure, BodyLimits, Gateway, GatewayRequest, GatewayResponse } from "./gateway/gateway.js";
export { BodyError } from "./gateway/gateway.js";
export type { GatewayHealth, ModelHealth } from "./gateway/gateway-health.js";
export type {
  AccountBalance,
  AccountWindow,
  CreditGrant,
  HistoryRange,
  ManagedAccounts,
} from "./gateway/managed-accounts.js";
export type { CreatedKey, ManagedKey, ManagedKeyChange, ManagedKeys, NewKey } from "./gateway/managed-keys.js";
export { UnknownKeyError } from "./gateway/managed-keys.js";
export type { ManagedPlans } from "./gateway/managed-plans.js";
export type { GatewayOptions, LedgerOptions, Model } from "./gateway/options.js";
export type { UsageRow } from "./gateway/sum-usage.js";
export type { RoutingOptions, TargetOptions } from "./gateway/target-options.js";
export type { LedgerEnding, LedgerEvent } from "./guard/ledger-event.js";

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
export type { Dialect, FailedRequest, UpstreamErrorAnswer } from "./openai/dialect.js";
export type { ErrorObject, GatewayErrorOptions } from "./openai/errors.js";
export { GatewayError } from "./openai/errors.js";
export type { MemberRule } from "./openai/restricted-members.js";
export type { TokenBounds } from "./openai/token-bounds.js";
export type { Tokenizer } from "./openai/tokenizer.js";
export type { UpstreamSecrets } from "./openai/upstream-secrets.js";
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
export type { PresetOptions } from "./providers/preset.js";
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
export { vLLM } from "./providers/vllm.js";
