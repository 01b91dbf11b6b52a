export { createUndiciTransport as createTransport } from "./providers/undici-transport.js";
