/// <reference path="./undici-files.d.ts" />
// From their files, because importing "undici" itself has a side effect on the host: it puts undici's own agent under
// Node's global fetch, irrevocably. It also takes 50 ms and 9 MB more. The exact version is pinned in package.json.
export { default as buildConnector } from "undici/lib/core/connect.js";
export { default as Client } from "undici/lib/dispatcher/client.js";
export { default as Pool } from "undici/lib/dispatcher/pool.js";
