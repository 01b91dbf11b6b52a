import type { AccountMeter } from "../../account/account-page-api.js";
import { credits, duration, instant } from "../parts/format.js";
import { Meter } from "../parts/meter.js";
import { Badge } from "../parts/notice.js";
import { fill } from "../parts/texts.js";
import { Time } from "../parts/time.js";
import { textOf, texts } from "./settings.js";

/** What a meter is of, such as `This month`. */
export function labelOf({ kind, window, tag, value }: AccountMeter): string {
  if (kind === "prepaid") return texts.prepaid;
  const name = textOf("window", window ?? "");
  return kind === "budget" ? fill(texts.budgetOf, { window: name, tag: tag ?? "", value: value ?? "" }) : name;
}

interface MeterCardProps {
  readonly meter: AccountMeter;
  /** Epoch seconds. */
  readonly now: number;
  readonly isFirst: boolean;
}

/** One limit, how much of it is left, and when it is full again. */
export function MeterCard({ meter, now, isFirst }: MeterCardProps) {
  const { kind, bonus, remaining } = meter;
  return (
    <div class="card">
      <Meter
        {...meter}
        label={labelOf(meter)}
        left={kind === "prepaid" ? remaining : null}
        badge={isFirst && <Badge>{texts.endsFirst}</Badge>}
      >
        <End meter={meter} now={now} />
        {bonus > 0 && <span>{fill(texts.bonusGiven, { bonus: credits(bonus) })}</span>}
      </Meter>
    </div>
  );
}

function End({ meter: { kind, window, resets_at }, now }: Pick<MeterCardProps, "meter" | "now">) {
  const isPrepaid = kind === "prepaid";
  if (resets_at === null) {
    return window === "total" ? null : <span>{isPrepaid ? texts.prepaidLasts : texts.notOpen}</span>;
  }
  const left = resets_at - now;
  const time = left > 0 && left < daySeconds ? fill(texts.within, { time: duration(left) }) : instant(resets_at);
  return (
    <span>
      <Time at={resets_at} text={fill(isPrepaid ? texts.prepaidExpire : texts.resets, { time })} />
    </span>
  );
}

const daySeconds = 86_400;
