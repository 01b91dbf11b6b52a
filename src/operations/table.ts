import type { OperationName } from "../metering/operation-name.js";
import { speech } from "./audio/speech.js";
import { transcriptions, translations } from "./audio/transcriptions.js";
import { chatCompletions } from "./chat-completions/chat-completions.js";
import { completions } from "./completions/completions.js";
import { embeddings } from "./embeddings/embeddings.js";
import { imageEdits } from "./images/image-edits.js";
import { imageGenerations } from "./images/image-generations.js";
import { messages } from "./messages/messages.js";
import { moderations } from "./moderations/moderations.js";
import type { Operation } from "./operation.js";
import { rerank } from "./rerank/rerank.js";
import { responses } from "./responses/responses.js";

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
