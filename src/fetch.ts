export { type FetchHandler, type RouteHandlers, toFetchHandler, toRouteHandlers } from "./adapters/fetch.js";
