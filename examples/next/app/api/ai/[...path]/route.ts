import { toRouteHandlers } from "infergate/fetch";
import { gateway } from "../../../../gateway.ts";

export const { GET, POST, DELETE, HEAD, OPTIONS } = toRouteHandlers(gateway);
