export { createUndiciTransport as createTransport } from "./providers/transport/undici-transport.js";
