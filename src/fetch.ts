export {
  type FetchHandler,
  type RouteHandlers,
  type RouteHandlersOptions,
  toFetchHandler,
  toRouteHandlers,
} from "./adapters/fetch.js";
