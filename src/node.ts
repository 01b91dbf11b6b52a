export { type NodeHandler, toNodeHandler } from "./adapters/node.js";
