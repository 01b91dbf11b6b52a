import { useEffect, useRef } from "preact/hooks";
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
  const isSame = useSameReader(me.data);
  return (
    <Shell
      views={ids.map((one) => [one, texts[one]])}
      view={id}
      state={me}
      aside={me.data && <Badge>{fill(texts.plan, { plan: me.data.plan })}</Badge>}
    >
      <Ready of={isSame ? me : nothing} height={420}>
        {(data) => <View key={id} me={data} reload={() => void me.reload()} />}
      </Ready>
    </Shell>
  );
}

const nothing = { data: undefined, error: undefined };

/** Whoever has signed in as somebody else gets a page of their own: nothing of the reader before is left. */
function useSameReader(me: AccountMe | undefined): boolean {
  const first = useRef<string | undefined>(undefined);
  const reader = me && JSON.stringify([me.account, me.role, me.tags]);
  first.current ??= reader;
  const isSame = reader === undefined || reader === first.current;
  useEffect(() => {
    if (!isSame) location.reload();
  }, [isSame]);
  return isSame;
}
