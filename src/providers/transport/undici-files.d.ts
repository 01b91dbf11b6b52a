// Single files of undici, because importing "undici" itself has a side effect on the host: it puts undici's own agent
// under Node's global fetch, irrevocably. It also takes 50 ms and 9 MB more. package.json pins the exact version.

declare module "undici/lib/core/connect.js" {
  import { buildConnector } from "undici";
  export = buildConnector;
}

declare module "undici/lib/dispatcher/client.js" {
  import { Client } from "undici";
  export = Client;
}

declare module "undici/lib/dispatcher/pool.js" {
  import { Pool } from "undici";
  export = Pool;
}
