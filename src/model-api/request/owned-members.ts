import { foldName } from "../../wire/folded-names.js";
import { capNames, otherCapNames } from "./cap-names.js";
import { readMembers, reasoningMembers } from "./request-names.js";

/** How much a model thinks is within the caps, whoever chooses it. */
const chosenByHosts: ReadonlySet<string> = new Set(reasoningMembers);

/** What the gateway reads, bounds or keeps itself, in the requests of all protocols that it sends. */
const owned: ReadonlySet<string> = new Set(
  [
    ...readMembers.filter((name) => !chosenByHosts.has(name)),
    ...[
      ...capNames,
      ...otherCapNames,
      "best_of",
      "system",
      "instructions",
      "prompt",
      "previous_response_id",
      "conversation",
      "store",
      "background",
    ],
  ].map(foldName),
);

/**
 * Whether the host's hook must leave a member of the upstream's request to the gateway: the model, the prompt, the
 * tools, the stream, caps and kept responses. Servers that ignore case or underscores read other spellings, too.
 */
export function isOwnedMember(name: string): boolean {
  return owned.has(foldName(name)) || name === "__proto__";
}
