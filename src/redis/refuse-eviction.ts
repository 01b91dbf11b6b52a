import { namesOf, type ScriptKeys } from "./commands/script-keys.js";
import type { RunScript } from "./run-script.js";
import { makeScript } from "./script.js";

// CONFIG GET is what managed services forbid first, and a script may not call it.
const memoryInfo = makeScript("return redis.call('INFO', 'memory')");

/**
 * Reads the server's policy once, with the first script, and refuses to run scripts while the server may evict keys
 * when its memory is full. A server that does not show its policy is trusted.
 */
export function refuseEviction(run: RunScript): RunScript {
  let isTrusted = false;
  let pending: Promise<void> | undefined;

  async function check(keys: ScriptKeys): Promise<void> {
    const policy = await readPolicy(run, keys);
    if (policy !== undefined && policy !== "noeviction") throw new Error(messageFor(policy));
    isTrusted = true;
  }

  async function runChecked(...call: Parameters<RunScript>): Promise<unknown> {
    pending ??= check(call[1]).finally(() => {
      pending = undefined;
    });
    await pending;
    return await run(...call);
  }

  return (script, keys, args) => (isTrusted ? run(script, keys, args) : runChecked(script, keys, args));
}

async function readPolicy(run: RunScript, keys: ScriptKeys): Promise<string | undefined> {
  try {
    const info = String(await run(memoryInfo, namesOf(keys).slice(0, 1), []));
    return /^maxmemory_policy:(\S+)/m.exec(info)?.[1];
  } catch (error) {
    const isForbidden = error instanceof Error && /^(NOPERM|ERR)\b/.test(error.message);
    if (isForbidden) return undefined;
    throw error;
  }
}

function messageFor(policy: string): string {
  return (
    `its maxmemory-policy is ${policy}. It would drop accounts when its memory is full, which refills them: ` +
    "set maxmemory-policy to noeviction, or pass `allowEviction: true` to accept that."
  );
}
