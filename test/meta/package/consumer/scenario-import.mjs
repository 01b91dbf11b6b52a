import * as infergate from "infergate";
import { toExpressHandler } from "infergate/express";
import { toFastifyPlugin } from "infergate/fastify";
import { toFetchHandler, toRouteHandlers } from "infergate/fetch";
import { toNodeHandler } from "infergate/node";
import { scenario } from "./scenario.cjs";

await scenario(infergate, { toExpressHandler, toFastifyPlugin, toFetchHandler, toRouteHandlers, toNodeHandler });
