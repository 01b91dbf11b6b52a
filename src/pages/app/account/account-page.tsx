import type { AccountMe } from "../../account/account-page-api.js";
import { later } from "../parts/later.js";
import { Badge, Ready } from "../parts/notice.js";
import { Shell } from "../parts/shell.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { useView } from "../parts/use-view.js";
import type { laterViews } from "./later-views.js";
import { Overview } from "./overview.js";
import type { ViewProps } from "./reader.js";
import { role, texts } from "./settings.js";

const everyMs = 15_000;

const view = (name: keyof typeof laterViews) =>
  later<ViewProps>(async () => (await import("./later-views.js")).laterViews[name]);

const all = {
  overview: Overview,
  keys: view("keys"),
  usage: view("usage"),
  requests: view("requests"),
  models: view("models"),
  connect: view("connect"),
  members: view("members"),
  statement: view("statement"),
};

type ViewId = keyof typeof all;

const owners = ["members", "statement"];
const ids = Object.keys(all).filter((id) => role === "owner" || !owners.includes(id)) as [ViewId, ...ViewId[]];

export function AccountPage() {
  const me = useApi<AccountMe>("me", everyMs);
  const { id } = useView(ids);
  const View = all[id];
  return (
    <Shell
      views={ids.map((one) => [one, texts[one]])}
      view={id}
      state={me}
      aside={me.data && <Badge>{fill(texts.plan, { plan: me.data.plan })}</Badge>}
    >
      <Ready of={me} height={420}>
        {/* Whoever signs in as somebody else finds nothing of the reader before. */}
        {(data) => <View key={id + readerOf(data)} me={data} reload={() => void me.reload()} />}
      </Ready>
    </Shell>
  );
}

function readerOf(me: AccountMe): string {
  return JSON.stringify([me.account, me.role, me.tags]);
}
