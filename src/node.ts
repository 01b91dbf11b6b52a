export { type NodeHandler, type NodeIncoming, type NodeOutgoing, toNodeHandler } from "./adapters/node.js";
