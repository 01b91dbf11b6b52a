import type { RequestCompleted } from "../../../src/events/request-completed.js";
import type { ClientServer } from "../clients/start-server.js";

/** The event of the latest call, when it has ended. */
export async function lastEvent(server: ClientServer): Promise<RequestCompleted | undefined> {
  await server.checkBooks();
  return server.events.at(-1);
}
