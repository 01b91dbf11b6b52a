import type { OperatorHealth } from "../../operator/operator-page-api.js";
import { later } from "../parts/later.js";
import { Badge, Notice, Ready } from "../parts/notice.js";
import { Shell } from "../parts/shell.js";
import { fill } from "../parts/texts.js";
import { useApi } from "../parts/use-api.js";
import { useView } from "../parts/use-view.js";
import type { laterOperatorViews } from "./later-operator-views.js";
import { Ago } from "./pieces.js";
import { type OperatorViewProps, texts } from "./settings.js";
import { TodayView } from "./today-view.js";

const everyMs = 15_000;

const view = (name: keyof typeof laterOperatorViews) =>
  later<OperatorViewProps>(async () => (await import("./later-operator-views.js")).laterOperatorViews[name]);

const all = {
  today: TodayView,
  accounts: view("accounts"),
  plans: view("plans"),
  models: view("models"),
  targets: view("targets"),
  requests: view("requests"),
  live: view("live"),
  ledger: view("ledger"),
  audit: view("audit"),
  account: view("account"),
};

type ViewId = keyof typeof all;

const ids = Object.keys(all) as [ViewId, ...ViewId[]];

export function OperatorPage() {
  const health = useApi<OperatorHealth>("health", everyMs);
  const { id, rest } = useView(ids);
  const View = all[id];
  const { data } = health;
  const isOne = id === "account";
  const listed = ids.filter((one) => one !== "account" && (one !== "live" || data?.live !== false));
  return (
    <Shell
      views={listed.map((one) => [one, texts[one]])}
      view={isOne ? "accounts" : id}
      {...(isOne && { heading: rest })}
      state={health}
      aside={data?.read_only && <Badge>{texts.readOnly}</Badge>}
    >
      {data && <Troubles health={data} />}
      {id === "today" ? (
        // It waits for nothing else.
        <TodayView />
      ) : (
        <Ready of={health} height={420}>
          {(known) => <View key={`${id}/${rest}`} health={known} rest={rest} />}
        </Ready>
      )}
    </Shell>
  );
}

/** What somebody should see to, before all else. */
function Troubles({ health: { ledgers, models } }: { readonly health: OperatorHealth }) {
  const closed = models.filter(({ available }) => !available).map(({ id }) => id);
  return (
    <>
      {ledgers.map(({ shard, down_since, kept, lost }) => {
        const ledger = shard ?? texts.theLedger;
        if (down_since === null) {
          return lost > 0 && <Notice tone="warning">{fill(texts.ledgerLost, { count: lost, ledger })}</Notice>;
        }
        return (
          <Notice key={shard} tone="danger">
            <strong>{fill(texts.ledgerDown, { ledger })}</strong> (<Ago at={down_since} />
            ). {kept > 0 && fill(texts.ledgerKept, { count: kept })}
          </Notice>
        );
      })}
      {closed.length > 0 && (
        <Notice tone="warning">
          {fill(texts.modelsClosed, { models: closed.join(", ") })} <a href="#targets">{texts.targets}</a>
        </Notice>
      )}
    </>
  );
}
