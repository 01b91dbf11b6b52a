import { Buffer } from "node:buffer";
import { runtime } from "../../runtime/this-runtime.js";
import { isCluster, isNodeRedis, type RedisClient } from "./redis-client.js";

/** A Lua script, and the digest by which a server that has seen it knows it. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
  /** Its texts are returned as bytes, where the client can read them so. Default: `false`. */
  readonly returnsBytes?: boolean;
}

/** Joins the parts to one script. Each part sees the local variables of those before it. */
export function makeScript(...parts: readonly string[]): Script {
  const text = parts.map((part) => part.trim()).join("\n\n");
  return { text, sha1: runtime.sha1(text, "hex") };
}

/** Runs a script in one round trip. */
export type RunScript = (script: Script, keys: ScriptKeys, args: readonly (string | number)[]) => Promise<unknown>;

interface ScriptRunner {
  readonly run: RunScript;
  /** Whether it returns bytes for scripts that ask for it: a client of the host's own may not be able to. */
  readonly returnsBytes: boolean;
}

/** @param onFailure - is told of each error of the server. */
export function scriptRunner(client: RedisClient, onFailure: (error: unknown) => void = () => {}): ScriptRunner {
  const { texts, bytes } = replyForms(client);
  const sendPacked = packedSender(client);
  return {
    returnsBytes: bytes !== undefined,
    run({ sha1, text, returnsBytes }, keys, args) {
      const { byDigest, byText } = returnsBytes ? (bytes ?? texts) : texts;
      const given = args.map(String);
      const sent =
        sendPacked !== undefined && returnsBytes && "pack" in keys
          ? sendPacked(sha1, keys.pack(), given)
          : byDigest(sha1, namesOf(keys), given);
      return sent.catch((error: unknown) => {
        // A server has no scripts after a restart, a promotion or SCRIPT FLUSH: this loads them.
        if (isNoScript(error)) return byText(text, namesOf(keys), given);
        onFailure(error);
        throw error;
      });
    },
  };
}

type Call = (script: string, keys: readonly string[], args: readonly string[]) => Promise<unknown>;

interface Calls {
  readonly byDigest: Call;
  readonly byText: Call;
}

/** The calls whose replies have texts as strings, and those whose replies have them as bytes, if there are any. */
interface ReplyForms {
  readonly texts: Calls;
  readonly bytes: Calls | undefined;
}

/** What clients have for replies as bytes. */
type BytesOfIoredis = Record<"evalshaBuffer" | "evalBuffer", (...args: (string | number)[]) => Promise<unknown>>;
interface BytesOfNodeRedis {
  withTypeMapping(mapping: object): RedisClient;
}

/** The type of a text in the protocol, as node-redis names it. */
const blobString = "$".charCodeAt(0);

function replyForms(client: RedisClient): ReplyForms {
  if (isNodeRedis(client)) {
    const { withTypeMapping } = client as object as Partial<BytesOfNodeRedis>;
    const mapped = withTypeMapping?.call(client, { [blobString]: Buffer });
    return { texts: callsOf(client), bytes: mapped && callsOf(mapped) };
  }
  const { evalshaBuffer, evalBuffer } = client as object as Partial<BytesOfIoredis>;
  if (evalshaBuffer === undefined || evalBuffer === undefined) return { texts: callsOf(client), bytes: undefined };
  return {
    texts: callsOf(client),
    bytes: {
      byDigest: (sha1, keys, args) => evalshaBuffer.call(client, sha1, keys.length, ...keys, ...args),
      byText: (text, keys, args) => evalBuffer.call(client, text, keys.length, ...keys, ...args),
    },
  };
}

function callsOf(client: RedisClient): Calls {
  if (isNodeRedis(client)) {
    return {
      byDigest: (sha1, keys, args) => client.evalSha(sha1, { keys: [...keys], arguments: [...args] }),
      byText: (text, keys, args) => client.eval(text, { keys: [...keys], arguments: [...args] }),
    };
  }
  return {
    byDigest: (sha1, keys, args) => client.evalsha(sha1, keys.length, ...keys, ...args),
    byText: (text, keys, args) => client.eval(text, keys.length, ...keys, ...args),
  };
}

function isNoScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("NOSCRIPT");
}

/** Sends `EVALSHA` with keys that are packed already. The texts of its reply are bytes. */
type SendPacked = (sha1: string, keys: PackedKeys, args: readonly string[]) => Promise<unknown>;

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

/** Keys in the form in which they go over the wire. */
export interface PackedKeys {
  readonly count: number;
  readonly text: string;
}

/** Keys of a script that takes hundreds: one by one for most clients, and packed for one that can be given them so. */
export interface ManyKeys {
  names(): readonly string[];
  pack(): PackedKeys;
}

/** The keys of a script. On a cluster they are in one hash slot. */
export type ScriptKeys = readonly string[] | ManyKeys;

export function namesOf(keys: ScriptKeys): readonly string[] {
  return "pack" in keys ? keys.names() : keys;
}

/** An argument of a command as it goes over the wire. */
export function packed(argument: string): string {
  return `$${Buffer.byteLength(argument)}\r\n${argument}\r\n`;
}
