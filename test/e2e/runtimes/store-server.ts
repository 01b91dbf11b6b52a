import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The methods of stores, by the names of the stores. */
export type ServedStores = Readonly<Record<string, object>>;

export interface StoreServer {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves stores of this process to `remoteStores` of another one. */
export async function startStoreServer(stores: ServedStores): Promise<StoreServer> {
  const server = createServer(async (request, response) => {
    const [, store = "", method = ""] = (request.url ?? "").split("/");
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    try {
      const called = stores[store] as Record<string, (...args: unknown[]) => unknown>;
      const result = await called[method]?.(...JSON.parse(Buffer.concat(pieces).toString()));
      response.end(JSON.stringify({ result }));
    } catch (error) {
      response.end(JSON.stringify({ error: String(error) }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
