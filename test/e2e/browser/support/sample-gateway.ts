import { createGateway } from "../../../../src/gateway/create-gateway.js";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import type { Model } from "../../../../src/gateway/models/model.js";
import type { Clock } from "../../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { createLiveRequests, type LiveRequests } from "../../../../src/observe/live-requests.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import type { WritableKeyStore } from "../../../../src/records/keys/key-store.js";
import { memoryAuditTrail } from "../../../../src/stores/memory/memory-audit-trail.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import {
  memoryAccountStore,
  memoryBudgetStore,
  memoryKeyStore,
  memoryModelStore,
  memoryPlanStore,
} from "../../../../src/stores/memory/memory-stores.js";
import { type FakeUpstream, startFakeUpstream } from "../../../../src/testing.js";

const day = 86_400_000;

/** The real time, less what the past of a sample needs. */
export class SampleClock implements Clock {
  behindMs = 0;
  now = () => Date.now() - this.behindMs;
}

/** A gateway of a small company, in front of a fake upstream. */
export interface SampleGateway {
  readonly gateway: Gateway;
  readonly upstream: FakeUpstream;
  readonly clock: SampleClock;
  readonly keys: Pick<WritableKeyStore, "touch">;
  /** The ledger does not answer. */
  readonly ledger: { isAway: boolean };
  readonly live: LiveRequests;
  close(): Promise<void>;
}

const model = (id: string, input: number, output: number, contextLength: number): Model => ({
  ...{ id, type: "chat", contextLength, maxOutputTokens: 8192, publisher: id.split("/")[0] ?? id },
  price: { input, cachedInput: input / 10, output },
  upstream: {
    ...{ provider: "fake", model: `upstream-${id}` },
    // What the company pays.
    cost: { input: Number((input * 0.8).toFixed(4)), output: Number((output * 0.8).toFixed(4)) },
  },
});

/** Prices are credits per million tokens. */
export const sampleModels: readonly Model[] = [
  model("anthropic/claude-sonnet-4.5", 3, 15, 200_000),
  model("openai/gpt-5-mini", 0.25, 2, 400_000),
  model("mistral/mistral-medium-3", 0.4, 2, 131_072),
  model("qwen/qwen3-coder", 0.3, 1.2, 262_144),
  {
    ...{ id: "openai/text-embedding-3-small", type: "embedding", contextLength: 8192, publisher: "openai" },
    price: { input: 0.02, output: 0 },
    upstream: { provider: "fake", model: "upstream-embed" },
  },
];

/** Models that are priced by other units: nobody has called them. */
const unitModels: readonly Model[] = [
  {
    ...{ id: "openai/gpt-image-1", type: "image", publisher: "openai" },
    price: { images: [{ quality: "high", size: "1024x1024", credits: 0.167 }, { credits: 0.25 }] },
    upstream: { provider: "fake", model: "upstream-image" },
  },
  {
    ...{ id: "openai/tts-1", type: "speech", publisher: "openai" },
    price: { characters: 15 },
    upstream: { provider: "fake", model: "upstream-speech" },
  },
  {
    ...{ id: "openai/whisper-1", type: "transcription", publisher: "openai" },
    price: { audioMinute: 0.006 },
    upstream: { provider: "fake", model: "upstream-transcription" },
  },
];

/** The accounts `acme`, with members, and `zenith`, which has nothing yet. */
export async function startSampleGateway(): Promise<SampleGateway> {
  const clock = new SampleClock();
  const upstream = await startFakeUpstream();
  const ledger = { isAway: false };
  const keys = memoryKeyStore([]);
  const live = createLiveRequests();
  const gateway = createGateway({
    basePath: "/ai",
    clock,
    models: [...sampleModels, ...unitModels],
    accounts: memoryAccountStore([
      { id: "acme", plan: "team", metadata: { company: "Acme Rockets" } },
      { id: "zenith", plan: "starter", metadata: { company: "Zenith Films" } },
    ]),
    keys,
    plans: memoryPlanStore({
      team: { models: ["*/*"], credits: { session: 5, week: 18, month: 60 } },
      starter: { models: ["openai/*"], credits: { session: 1, week: 2, month: 5 } },
    }),
    budgets: memoryBudgetStore(),
    ledger: breakable(memoryCreditLedger({ clock }), ledger),
    requestLog: memoryRequestLog({ clock }),
    audit: memoryAuditTrail({ clock }),
    modelStore: memoryModelStore(),
    observers: [live],
    providers: { fake: openAICompatible({ baseURL: upstream.url, apiKey: "sk-upstream-secret" }) },
    closeGraceMs: 0,
    onWarning: () => {},
  });
  return {
    ...{ gateway, upstream, clock, live, ledger, keys },
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  };
}

function breakable(ledger: CreditLedger, state: { readonly isAway: boolean }): CreditLedger {
  const members = Object.entries({ ...ledger }).map(([name, member]) => {
    if (typeof member !== "function") return [name, member];
    const method = (...given: unknown[]) =>
      state.isAway ? Promise.reject(new Error("The ledger is away.")) : Reflect.apply(member, ledger, given);
    return [name, method];
  });
  return Object.fromEntries(members);
}

/** Lets something happen as many days ago. */
export async function daysAgo<Made>({ clock }: SampleGateway, days: number, make: () => Promise<Made>): Promise<Made> {
  clock.behindMs = days * day;
  try {
    return await make();
  } finally {
    clock.behindMs = 0;
  }
}
