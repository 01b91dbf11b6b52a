import { requireKnownOptions } from "../../check/known-options.js";
import { checkedModelStore } from "../../models/checked-model-store.js";
import type { ModelStore } from "../../models/model-store.js";
import { connectionOf, knownRedisOptions, type RedisConnection, type RedisOptions } from "../redis-options.js";
import { makeScript } from "../script.js";
import { findModel, putModel, removeModel, scanModels } from "../store-scripts/models.js";

const scripts = {
  scan: makeScript(scanModels),
  find: makeScript(findModel),
  put: makeScript(putModel),
  remove: makeScript(removeModel),
};

/** About how many models one script reads, so that it keeps no other client waiting. */
const modelsPerScript = 200;

/**
 * Models in Redis, by id. They do not expire there.
 * @throws TypeError | RangeError when an option is not valid.
 */
export function redisModelStore(options: RedisOptions): ModelStore {
  requireKnownOptions("redisModelStore", options, knownRedisOptions);
  return modelStoreOn(connectionOf(options));
}

/** The same on a connection that is shared with other stores. */
export function modelStoreOn({ run, prefix, changes }: RedisConnection): ModelStore {
  const models = [`${prefix}:{models}`];
  return checkedModelStore("redisModelStore", {
    async list() {
      const texts = new Map<string, string>();
      let cursor = "0";
      do {
        const reply = (await run(scripts.scan, models, [cursor, modelsPerScript])) as readonly [unknown, unknown[]];
        const found = reply[1].map(String);
        for (let at = 0; at < found.length; at += 2) texts.set(found[at] ?? "", found[at + 1] ?? "");
        cursor = String(reply[0]);
      } while (cursor !== "0");
      return Array.from(texts, ([id, text]) => ({ id, text }));
    },
    async find(id) {
      const text = await run(scripts.find, models, [id]);
      return text === null || text === undefined ? undefined : String(text);
    },
    async put({ id, text, expected, most }) {
      const rule = expected === undefined ? "any" : expected === null ? "none" : "known";
      const outcome = await run(scripts.put, models, [id, changes.channel, text, most, rule, expected ?? ""]);
      return String(outcome) as "put" | "full" | "unexpected";
    },
    async remove(id, expected) {
      const args = [id, changes.channel, ...(expected === undefined ? [] : [expected])];
      return Number(await run(scripts.remove, models, args)) === 1;
    },
    ...(changes.canSubscribe && { subscribe: (onChange) => changes.subscribe("model", onChange) }),
  });
}
