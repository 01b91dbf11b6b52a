export { createFetchTransport as createTransport } from "./providers/transport/fetch-transport.js";
