import { type ManyKeys, type PackedKeys, packed, type RunScript, type Script } from "../script.js";
import { decodeReplies, type LedgerReply } from "./ledger-reply.js";
import type { RunOperations } from "./operation-queue.js";
import type { BatchedOperation, OperationGroup, Waiting } from "./waiting-operations.js";

/** What runs operations in scripts. */
export interface OperationRunner {
  readonly run: RunScript;
  readonly script: Script;
  /** JSON of what every argument begins with. */
  readonly head: string;
}

/** Makes one script call of operations: the keys of all of them, and one JSON text. */
export function operationRunner({ run, script, head }: OperationRunner): RunOperations {
  return async (groups) => {
    let text = `[${head}`;
    for (const { waiting } of groups) {
      let separator = ",[";
      for (const { operation } of waiting) {
        text += separator + operation.text;
        separator = ",";
      }
      text += "]";
    }
    const [returned, ...failures] = (await run(script, keysOf(groups), [`${text}]`])) as readonly unknown[];
    return failures.length === 0 ? decodeReplies(returned) : withErrors(decodeReplies(returned), failures);
  };
}

/** Of each account its own, and those of its operations' ids. */
function keysOf(groups: readonly OperationGroup[]): ManyKeys {
  return { names: () => groups.flatMap(namesOf), pack: () => pack(groups) };
}

function namesOf({ waiting }: OperationGroup): string[] {
  const { names } = (waiting[0] as Pick<Waiting, "operation">).operation.keys;
  return [...names, ...waiting.flatMap(({ operation }) => ownName(operation) ?? [])];
}

function pack(groups: readonly OperationGroup[]): PackedKeys {
  let count = 0;
  let text = "";
  for (const { waiting } of groups) {
    const { keys } = (waiting[0] as Pick<Waiting, "operation">).operation;
    count += keys.names.length;
    text += keys.packed;
    for (const { operation } of waiting) {
      const own = ownName(operation);
      if (own === undefined) continue;
      count++;
      text += packed(own);
    }
  }
  return { count, text };
}

function ownName({ keys, ownKey }: BatchedOperation): string | undefined {
  return ownKey === undefined ? undefined : `${keys.names[0]}:${ownKey}`;
}

/** @param failures - the messages of those that failed, in their order. */
function withErrors(replies: readonly LedgerReply[], failures: readonly unknown[]): readonly (LedgerReply | Error)[] {
  let next = 0;
  return replies.map((reply) => (reply.status === "failed" ? new Error(String(failures[next++])) : reply));
}
