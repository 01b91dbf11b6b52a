import { ConnectView } from "./connect-view.js";
import { KeysView } from "./keys/keys-view.js";
import { MembersView } from "./members-view.js";
import { ModelsView } from "./models-view.js";
import { RequestsView } from "./requests-view.js";
import { StatementView } from "./statement-view.js";
import { UsageView } from "./usage/usage-view.js";

/** All but the first view: they are one file, which is loaded when one of them is opened. */
export const laterViews = {
  keys: KeysView,
  usage: UsageView,
  requests: RequestsView,
  models: ModelsView,
  connect: ConnectView,
  members: MembersView,
  statement: StatementView,
};
