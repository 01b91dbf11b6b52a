import { chatCompletions } from "./chat-completions.js";
import { embeddings } from "./embeddings.js";
import { messages } from "./messages.js";
import type { Operation } from "./operation.js";
import { responses } from "./responses.js";

/** What clients can call. A new operation is one more line here. */
export const operations: readonly Operation[] = [chatCompletions, embeddings, responses, messages];
