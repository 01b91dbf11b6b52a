import { toRouteHandlers } from "infergate/fetch";
import { account } from "../../../account-page.ts";

export const { GET, POST, PUT, PATCH, DELETE, HEAD } = toRouteHandlers(account);
