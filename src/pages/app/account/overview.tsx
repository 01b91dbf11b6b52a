import type { AccountKey, AccountMe } from "../../account/account-page-api.js";
import { credits, instant } from "../parts/format.js";
import { Meter } from "../parts/meter.js";
import { Empty, Notice, Ready } from "../parts/notice.js";
import { fill } from "../parts/texts.js";
import { linkTo } from "../parts/use-view.js";
import { labelOf, MeterCard } from "./meter-card.js";
import { useKeys, type ViewProps } from "./reader.js";
import { texts } from "./settings.js";
import { UsageChart } from "./usage/usage-chart.js";
import { useUsage } from "./usage/use-usage.js";

/** What is left at a glance. */
export function Overview({ me }: ViewProps) {
  const keys = useKeys();
  const usage = useUsage({ days: 30, by: "model" });
  const { meters, binding } = me;
  // What ends first comes first.
  const sorted = meters.toSorted((one, other) => Number(other.id === binding) - Number(one.id === binding));
  return (
    <>
      <State me={me} />
      {me.keys.own === 0 && me.can.change_keys && (
        <section class="card" aria-label={texts.welcome}>
          <Empty title={texts.welcome} text={texts.welcomeMore}>
            <a class="button primary" href={linkTo("keys")}>
              {texts.goToKeys}
            </a>
          </Empty>
        </section>
      )}
      {sorted.length === 0 && (
        <div class="card">
          <Empty title={texts.noLimits} text={texts.noLimitsMore} />
        </div>
      )}
      <div class="grid">
        {sorted.map((meter) => (
          <MeterCard key={meter.id} meter={meter} now={me.now} isFirst={meter.id === binding} />
        ))}
      </div>
      <section class="card" aria-labelledby="last-days">
        <div class="row">
          <h2 id="last-days">{texts.lastDays}</h2>
          <a href={linkTo("usage")}>{texts.allUsage}</a>
        </div>
        <Ready of={usage} height={296}>
          {() => <UsageChart usage={usage} measure="credits" />}
        </Ready>
      </section>
      {/* Not before the chart, which would push it away. */}
      {usage.data && <KeyCaps keys={keys ?? []} />}
    </>
  );
}

/** What stops calls, before all else. */
function State({ me: { ready, status, message, blocked, binding, meters, debt } }: { readonly me: AccountMe }) {
  const meter = meters.find(({ id }) => id === binding);
  const time = meter?.resets_at ?? null;
  const text = time === null ? texts.blockedForGood : texts.blocked;
  return (
    <>
      {!ready && <Notice tone="warning">{texts.restarting}</Notice>}
      {status === "suspended" && (
        <Notice tone="danger">
          <strong>{texts.suspended}</strong> {message}
        </Notice>
      )}
      {blocked && meter && (
        <Notice tone="danger">
          <strong>{fill(text, { limit: labelOf(meter), time: time === null ? "" : instant(time) })}</strong>{" "}
          {time !== null && texts.blockedMore}
        </Notice>
      )}
      {debt > 0 && <Notice tone="warning">{fill(texts.debt, { credits: credits(debt) })}</Notice>}
    </>
  );
}

function KeyCaps({ keys }: { readonly keys: readonly AccountKey[] }) {
  const inForce = keys.filter(({ state }) => state === "active" || state === "ending");
  const capped = inForce.flatMap(({ name, meters }) => meters?.map((meter) => ({ name, meter })) ?? []);
  if (capped.length === 0) return null;
  return (
    <section class="card" aria-labelledby="key-caps">
      <h2 id="key-caps">{texts.keyCaps}</h2>
      <div class="grid">
        {capped.map(({ name, meter }) => (
          <Meter key={meter.id} {...meter} label={`${name ?? texts.unnamed} · ${labelOf(meter)}`} isSmall />
        ))}
      </div>
    </section>
  );
}
