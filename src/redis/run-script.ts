import { Buffer } from "node:buffer";
import { packedSender } from "./commands/packed-sender.js";
import { namesOf, type ScriptKeys } from "./commands/script-keys.js";
import { isNodeRedis, type RedisClient } from "./redis-client.js";
import type { Script } from "./script.js";

/** Runs a script in one round trip. */
export type RunScript = (script: Script, keys: ScriptKeys, args: readonly (string | number)[]) => Promise<unknown>;

export interface ScriptRunner {
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
