import { toRouteHandlers } from "infergate/fetch";
import { gateway } from "../../../../gateway";

export const { GET, POST, HEAD, OPTIONS } = toRouteHandlers(gateway);
