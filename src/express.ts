export { type ExpressHandler, type ExpressRequest, toExpressHandler } from "./adapters/express.js";
