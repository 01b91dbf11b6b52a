import type { ProtocolTable } from "../model-api/tables/protocol-table.js";
import { operations } from "./table.js";

/** What the clients of each protocol may send. */
export const protocolTables: readonly ProtocolTable[] = operations.flatMap(({ table }) => table ?? []);
