import { capNames, otherCapNames } from "../model-api/request/cap-names.js";
import { foldName } from "../wire/folded-names.js";
import { operations } from "./table.js";

/** What the gateway reads, bounds or keeps itself, in the requests of all operations: any may be translated. */
const owned: ReadonlySet<string> = new Set(
  [...operations.flatMap(({ names }) => names.owned), ...capNames, ...otherCapNames, "best_of"].map(foldName),
);

/**
 * Whether the host's hook must leave a member of the upstream's request to the gateway: the model, the prompt, the
 * tools, the stream, caps and kept responses. Servers that ignore case or underscores read other spellings, too.
 */
export function isOwnedMember(name: string): boolean {
  return owned.has(foldName(name)) || name === "__proto__";
}
