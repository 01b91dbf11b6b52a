export { describeBudgetStore } from "./testing/budget-store/describe-budget-store.js";
export { describeWritableBudgetStore } from "./testing/budget-store/describe-writable-budget-store.js";
export type { ChatChunksSample, ChatSample, SampleUsage } from "./testing/chat-samples.js";
export { chatAnswer, chatChunks, errorBody, sampleUsage } from "./testing/chat-samples.js";
export { describeAccountStore } from "./testing/describe-account-store.js";
export { describeAuditTrail } from "./testing/describe-audit-trail.js";
export type { DescribeCreditLedgerOptions } from "./testing/describe-credit-ledger.js";
export { describeCreditLedger } from "./testing/describe-credit-ledger.js";
export { describeKeyStore } from "./testing/describe-key-store.js";
export { describePlanStore, describeWritablePlanStore } from "./testing/describe-plan-store.js";
export type { DescribeResponseStoreOptions } from "./testing/describe-response-store.js";
export { describeResponseStore } from "./testing/describe-response-store.js";
export type { DescribeUpstreamProviderOptions } from "./testing/describe-upstream-provider.js";
export { describeUpstreamProvider } from "./testing/describe-upstream-provider.js";
export { describeWritableAccountStore } from "./testing/describe-writable-account-store.js";
export { describeWritableKeyStore } from "./testing/describe-writable-key-store.js";
export type {
  AnswerOptions,
  EventStreamOptions,
  FakeAnswer,
  FakeRequest,
  StreamEnd,
} from "./testing/fake-upstream/fake-responses.js";
export {
  eventStream,
  hangAfterHeaders,
  hangBeforeHeaders,
  honestChat,
  rawAnswer,
  resetBeforeHeaders,
  toEventBytes,
  wholeAnswer,
} from "./testing/fake-upstream/fake-responses.js";
export type { FakeUpstream } from "./testing/fake-upstream/fake-upstream.js";
export { startFakeUpstream } from "./testing/fake-upstream/fake-upstream.js";
export type { Gate } from "./testing/gate.js";
export { createGate } from "./testing/gate.js";
export { ManualClock } from "./testing/manual-clock.js";
export { describeModelStore } from "./testing/model-store/describe-model-store.js";
export { describeRequestLog } from "./testing/request-log/describe-request-log.js";
export type { MakeRequestLog } from "./testing/request-log/request-log-fixture.js";
export { describeResponseCacheStore } from "./testing/response-store/describe-response-cache-store.js";
export type { MakeResponseStore } from "./testing/response-store/response-fixture.js";
export type { TestRunner } from "./testing/test-runner.js";
