import type { LedgerReply } from "../ledger-reply.js";
import type { RunScript } from "../run-script.js";
import type { Script } from "../script.js";
import { decodeReplies } from "./decode-replies.js";
import type { RunOperations } from "./operation-queue.js";

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
    const names: string[] = [];
    let text = `[${head}`;
    for (const { waiting } of groups) {
      let separator = ",[";
      for (const { operation } of waiting) {
        const { keys, ownKey } = operation;
        if (separator === ",[") names.push(...keys);
        if (ownKey !== undefined) names.push(`${keys[0]}:${ownKey}`);
        text += separator + operation.text;
        separator = ",";
      }
      text += "]";
    }
    const [packed, ...failures] = (await run(script, names, [`${text}]`])) as readonly unknown[];
    return failures.length === 0 ? decodeReplies(packed) : withErrors(decodeReplies(packed), failures);
  };
}

/** @param failures - the messages of those that failed, in their order. */
function withErrors(replies: readonly LedgerReply[], failures: readonly unknown[]): readonly (LedgerReply | Error)[] {
  let next = 0;
  return replies.map((reply) => (reply.status === "failed" ? new Error(String(failures[next++])) : reply));
}
