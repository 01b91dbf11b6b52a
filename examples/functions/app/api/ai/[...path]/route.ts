import { toRouteHandlers } from "infergate/fetch";
import { after } from "next/server";
import { gateway } from "../../../../gateway.ts";

export const maxDuration = 300;

export const { GET, POST, DELETE, HEAD, OPTIONS } = toRouteHandlers(gateway, { waitUntil: after });
