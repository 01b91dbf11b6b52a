import { afterAll, beforeAll, describe } from "vitest";
import { connectionOf } from "../../../src/stores/redis/redis-connection.js";
import { RedisRecordStore } from "../../../src/stores/redis/redis-record-store.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { describeRecordStore } from "../contracts/describe-record-store.js";
import { type Connected, clients } from "./clients.js";

describe.runIf(hasRedisServer).each(clients)("with %s", (name, connect) => {
  let server: RedisServer;
  let connected: readonly [Connected, Connected];
  beforeAll(async () => {
    server = await RedisServer.start();
    connected = [await connect(server.port), await connect(server.port)];
  });
  afterAll(async () => {
    for (const { end } of connected ?? []) end();
    await server?.stop();
  });

  const storeOn = ({ client }: Connected) => new RedisRecordStore(connectionOf({ client }));
  describeRecordStore(`RedisRecordStore, ${name}`, () => [storeOn(connected[0]), storeOn(connected[1])]);
});
