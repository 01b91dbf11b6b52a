import type { Model } from "../../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { ModelStore, StoredModel } from "../../../../src/records/models/model-store.js";
import { memoryModelStore } from "../../../../src/stores/memory/memory-stores.js";
import {
  chatRequest,
  getRequest,
  smallModel,
  startTestGateway,
  type TestGateway,
} from "../../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];

/** For `afterEach` of each file: what files share is loaded once for several of them. */
export async function closeStarted(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

/** A gateway with a store of models. */
export async function start(modelStore: ModelStore, options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const test = await startTestGateway({ modelStore, ...options });
  closers.push(() => test.close());
  return test;
}

/** Two of them, with one store. */
export async function startPair(options: Partial<GatewayOptions> = {}) {
  const store = memoryModelStore();
  return { store, one: await start(store, options), other: await start(store, options) };
}

export const named = (id: string, more: Partial<Model> = {}) => ({ ...smallModel, id, ...more });

/** The ids of the models that a client lists. */
export async function listed(test: TestGateway, headers: Record<string, string> = {}): Promise<string[]> {
  const request = new Request(getRequest("/v1/models"), { headers: { authorization: "Bearer sk-pro", ...headers } });
  const { data } = (await (await test.gateway.handler(request)).json()) as { data: { id: string }[] };
  return data.map(({ id }) => id);
}

/** The status of a call. */
export async function call(test: TestGateway, model: string): Promise<number> {
  const response = await test.gateway.handler(chatRequest({ model }));
  await response.text();
  return response.status;
}

/** A store in memory whose entries a test may spoil, whose readings it counts and may stop, and which sends no notices. */
export function silentStore(models: readonly { id: string }[] = []) {
  const inner = memoryModelStore(models as never);
  const spoilt = new Map<string, StoredModel>();
  const counts = { list: 0, find: 0 };
  const state: { fault: (() => Promise<never>) | undefined } = { fault: undefined };
  const store: ModelStore = {
    async list() {
      counts.list++;
      if (state.fault) return state.fault();
      const entries = (await inner.list()).filter(({ id }) => !spoilt.has(id));
      return [...entries, ...spoilt.values()];
    },
    async find(id) {
      counts.find++;
      if (state.fault) return state.fault();
      return spoilt.get(id) ?? inner.find(id);
    },
    put: (model, condition) => {
      spoilt.delete(model.id);
      return inner.put(model, condition);
    },
    remove: (id, condition) => inner.remove(id, condition),
  };
  return { store, inner, spoilt, counts, state };
}
