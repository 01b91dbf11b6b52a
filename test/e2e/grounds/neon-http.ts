import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import pg from "pg";

interface NeonQuery {
  readonly query: string;
  readonly params: unknown[];
}

/**
 * Speaks the protocol of Neon's endpoint for SQL over HTTP, in front of a server of PostgreSQL: a statement is the body of a
 * POST, with the address of its database in a header. Values are texts; a row is an array.
 */
export class NeonHttp {
  readonly #server: Server;
  readonly #pool: pg.Pool;
  requests = 0;

  private constructor(connectionString: string) {
    this.#pool = new pg.Pool({ connectionString, max: 16 });
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(connectionString: string): Promise<NeonHttp> {
    const endpoint = new NeonHttp(connectionString);
    await new Promise<void>((resolve) => endpoint.#server.listen(0, "127.0.0.1", resolve));
    return endpoint;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/sql`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#pool.end();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++;
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    const { headers } = request;
    if (!headers["neon-connection-string"] || headers["neon-raw-text-output"] !== "true") {
      answer(400, { message: "The headers of the driver are missing." });
      return;
    }
    try {
      const { query, params } = JSON.parse(await text(request)) as NeonQuery;
      const { command, rowCount, fields, rows } = await this.#pool.query({
        ...{ text: query, values: params, rowMode: "array" as const },
        types: { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig,
      });
      answer(200, { command, rowCount, fields, rows, rowAsArray: true, viaNeonFetch: true });
    } catch (error) {
      // As the server's own error, with the code of PostgreSQL.
      const { message, code, severity, detail } = error as pg.DatabaseError;
      answer(400, { message, code, severity, detail });
    }
  }
}
