export { createFetchTransport as createTransport } from "./providers/fetch-transport.js";
