import { messagesTable } from "../anthropic/messages-table.js";
import { chatTable } from "../openai/tables/chat-table.js";
import type { ProtocolTable } from "../openai/tables/protocol-table.js";
import { responsesTable } from "../openai/tables/responses-table.js";

/** What the clients of each protocol may send. */
export const protocolTables: readonly ProtocolTable[] = [chatTable, responsesTable, messagesTable];
