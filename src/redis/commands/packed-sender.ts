import { isCluster, type RedisClient } from "../redis-client.js";
import { type PackedKeys, packed } from "./script-keys.js";

/** Sends `EVALSHA` with keys that are packed already. The texts of its reply are bytes. */
export type SendPacked = (sha1: string, keys: PackedKeys, args: readonly string[]) => Promise<unknown>;

/** What ioredis makes of the call of a command, and gives to `sendCommand`. */
interface Command {
  /** What goes over the connection. */
  toWritable(): unknown;
}

/** What clients of ioredis have beside what all do. */
interface Ioredis {
  readonly options: object;
  evalshaBuffer(...args: (string | number)[]): unknown;
  sendCommand(command: Command): Promise<unknown>;
}

/**
 * A script for 32 accounts has some 300 keys. ioredis copies each of them several times; one that is given a command asks
 * only what to send.
 *
 * @returns `undefined` where the client is another one, or does more about a command than ioredis.
 */
export function packedSender(client: RedisClient): SendPacked | undefined {
  if (isCluster(client) || !isIoredis(client)) return undefined;
  const maker = {
    options: { ...client.options, enableAutoPipelining: false },
    sendCommand: (command: Command) => command,
  };
  const make = (...args: string[]) => client.evalshaBuffer.apply(maker as unknown as Ioredis, args) as Command;
  // It differs where the client puts a prefix before keys.
  if (make("digest", "1", "key", "é").toWritable() !== textOf("digest", { count: 1, text: packed("key") }, ["é"]))
    return undefined;
  return (sha1, keys, args) => {
    const command = make(sha1, "0");
    command.toWritable = () => textOf(sha1, keys, args);
    return client.sendCommand(command);
  };
}

/** Whether its commands are ioredis's own: a host may have put something around them. */
function isIoredis(client: object): client is Ioredis {
  let count = 0;
  for (let object = client; object !== null; object = Object.getPrototypeOf(object)) {
    if (Object.hasOwn(object, "evalshaBuffer")) count++;
  }
  return count === 1 && "sendCommand" in client && "options" in client;
}

function textOf(sha1: string, { count, text }: PackedKeys, args: readonly string[]): string {
  const head = ["evalsha", sha1, String(count)];
  return `*${head.length + count + args.length}\r\n${head.map(packed).join("")}${text}${args.map(packed).join("")}`;
}
