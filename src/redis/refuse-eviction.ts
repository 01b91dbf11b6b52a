import { namesOf, type ScriptKeys } from "./commands/script-keys.js";
import type { RunScript } from "./run-script.js";
import { makeScript } from "./script.js";

// CONFIG GET is what managed services forbid first, and a script may not call it.
const memoryInfo = makeScript("return redis.call('INFO', 'memory')");

/** After so long it is read again: a person may have changed it. In milliseconds. */
const trustMs = 5 * 60_000;

/** What a check of the policy goes by. */
export interface EvictionChecks {
  /** Whether callers check for themselves, and do not wait for the check of another one. */
  readonly isolate: boolean;
  /** Another value after each reconnection, which may have led to another server. */
  readonly connection: () => unknown;
  /** In milliseconds, from any beginning. */
  readonly now: () => number;
}

/**
 * Reads the server's policy with the first script, after a reconnection, and again every few minutes. It refuses to run
 * scripts while the server may evict keys when its memory is full. A server that does not show its policy is trusted.
 */
export function refuseEviction(run: RunScript, { isolate, connection, now }: EvictionChecks): RunScript {
  let trusted: { readonly until: number; readonly connection: unknown } | undefined;
  let pending: Promise<void> | undefined;

  function isTrusted(): boolean {
    return trusted !== undefined && now() < trusted.until && connection() === trusted.connection;
  }

  async function check(keys: ScriptKeys): Promise<void> {
    // Of before the check: a connection that is lost meanwhile is checked again.
    const checked = { until: now() + trustMs, connection: connection() };
    trusted = undefined;
    const policy = await readPolicy(run, keys);
    if (policy !== undefined && policy !== "noeviction") throw new Error(messageFor(policy));
    trusted = checked;
  }

  function checkTogether(keys: ScriptKeys): Promise<void> {
    pending ??= check(keys).finally(() => {
      pending = undefined;
    });
    return pending;
  }

  async function runChecked(...call: Parameters<RunScript>): Promise<unknown> {
    await (isolate ? check(call[1]) : checkTogether(call[1]));
    return await run(...call);
  }

  return (script, keys, args) => (isTrusted() ? run(script, keys, args) : runChecked(script, keys, args));
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
