import type { OperationName } from "../prices/operation-name.js";
import { foldName } from "../wire/member-search.js";
import { speech } from "./audio/speech.js";
import { transcriptions, translations } from "./audio/transcriptions.js";
import { chatCompletions } from "./chat/chat-completions.js";
import { completions } from "./completions/completions.js";
import { embeddings } from "./embeddings/embeddings.js";
import { imageEdits, imageGenerations } from "./images/image-operations.js";
import { messages } from "./messages/messages.js";
import { moderations } from "./moderations/moderations.js";
import { rerank } from "./rerank/rerank.js";
import { responses } from "./responses/responses.js";
import { capNames, otherCapNames } from "./shared/dialect.js";
import type { Operation } from "./shared/operation.js";
import type { ProtocolTable } from "./shared/protocol-table.js";

/** What clients can call. Everything else in the gateway that differs from operation to operation is read from here. */
const byName: { readonly [Name in OperationName]: Operation<Name> } = {
  "chat/completions": chatCompletions,
  embeddings,
  responses,
  messages,
  completions,
  moderations,
  rerank,
  "images/generations": imageGenerations,
  "images/edits": imageEdits,
  "audio/speech": speech,
  "audio/transcriptions": transcriptions,
  "audio/translations": translations,
};

export const operations: readonly Operation[] = Object.values(byName);

/** What the clients of each protocol may send. */
export const protocolTables: readonly ProtocolTable[] = operations.flatMap(({ table }) => table ?? []);

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
