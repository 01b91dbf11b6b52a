import { messagesTable } from "../anthropic/messages-table.js";
import type { ProtocolTable } from "../model-api/tables/protocol-table.js";
import { chatTable } from "../openai/tables/chat-table.js";
import { responsesTable } from "../openai/tables/responses-table.js";

/** What the clients of each protocol may send. */
export const protocolTables: readonly ProtocolTable[] = [chatTable, responsesTable, messagesTable];
