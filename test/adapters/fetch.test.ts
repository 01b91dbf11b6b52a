import { describeAdapter } from "./adapter-suite.js";
import { fetchAdapter, honoAdapter, routeHandlersAdapter } from "./fetch-adapter.js";

describeAdapter(fetchAdapter);
describeAdapter(honoAdapter);
describeAdapter(routeHandlersAdapter);
